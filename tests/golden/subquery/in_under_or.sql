-- title: IN under OR is a mark
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT id
FROM r
WHERE b = 1 OR a IN (SELECT b FROM u)
---- plan
Project id  [linear]
  Filter b = 1 OR any  [linear]
    Existence mark a = b_3  [keyed]
      Scan r (id, a, b)  [linear]
      Project b_2 as b_3  [linear]
        Scan u (b as b_2)  [linear]
---- delta plan
Net
  Project id  [linear]
    Net
      Filter b = 1 OR any  [linear]
        Sum
          Existence mark a = b_3  [keyed]
            Net (#1)
              Scan changes.r (id, a, b)  [linear]
            Project b_2 as b_3 (#2)  [linear]
              Restrict b_2 <=> key b_3
                Scan after.u (b as b_2)  [linear]
                Keys b_3 (#3)
                  Sum
                    Project a as b_3  [linear]
                      #1
                    Project a as b_3  [linear]
                      Restrict a <=> key b_3 (#4)
                        Scan before.r (id, a, b)  [linear]
                        Keys b_3
                          Project b_2 as b_3  [linear]
                            Net
                              Scan changes.u (b as b_2)  [linear]
          Existence mark a = b_3  [keyed]
            #4
            #2
          Negate
            Existence mark a = b_3  [keyed]
              #4
              Project b_2 as b_3  [linear]
                Restrict b_2 <=> key b_3
                  Scan before.u (b as b_2)  [linear]
                  #3
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `id`,
    `a`,
    `b`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `b`,
        `__st_weight`
      FROM `changes`.`r`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `b`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `b_2`,
    `__st_weight`
  FROM (
    SELECT
      `b_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `b` AS `b_2`,
        `__st_weight`
      FROM `changes`.`u`
    ) AS `t`
    GROUP BY
      `b_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `b_3`
  FROM (
    SELECT
      `b_2` AS `b_3`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  WHERE
    NOT `b_3` IS NULL
), `__st_step_1` AS (
  SELECT
    `t`.`id`,
    `t`.`a`,
    `t`.`b`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`
    FROM `before`.`r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`a` = `k`.`b_3`
), `__st_keys_2` AS (
  SELECT DISTINCT
    `b_3`
  FROM (
    SELECT
      `a` AS `b_3`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
    UNION ALL
    SELECT
      `b_3`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `b_3`
      FROM `__st_step_1` AS `t`
    ) AS `t`
  ) AS `t`
  WHERE
    NOT `b_3` IS NULL
), `__st_step_2` AS (
  SELECT
    `b_2` AS `b_3`
  FROM (
    SELECT
      `t`.`b_2`
    FROM (
      SELECT
        `b` AS `b_2`
      FROM `after`.`u`
    ) AS `t`
    LEFT SEMI JOIN `__st_keys_2` AS `k`
      ON `t`.`b_2` = `k`.`b_3`
  ) AS `t`
), `__st_net_3` AS (
  SELECT
    `id`,
    `a`,
    `b`,
    `any`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      `any`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `b`,
        `any`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `b`,
          `any`,
          `__st_weight`
        FROM (
          SELECT
            `l`.`id`,
            `l`.`a`,
            `l`.`b`,
            coalesce(`r`.`__st_found`, FALSE) AS `any`,
            `l`.`__st_weight`
          FROM `__st_net_1` AS `l`
          LEFT JOIN (
            SELECT DISTINCT
              `b_3`,
              TRUE AS `__st_found`
            FROM `__st_step_2` AS `k`
          ) AS `r`
            ON `a` = `b_3`
        ) AS `t`
        UNION ALL
        SELECT
          `id`,
          `a`,
          `b`,
          `any`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `l`.`id`,
            `l`.`a`,
            `l`.`b`,
            coalesce(`r`.`__st_found`, FALSE) AS `any`
          FROM `__st_step_1` AS `l`
          LEFT JOIN (
            SELECT DISTINCT
              `b_3`,
              TRUE AS `__st_found`
            FROM `__st_step_2` AS `k`
          ) AS `r`
            ON `a` = `b_3`
        ) AS `t`
        UNION ALL
        SELECT
          `id`,
          `a`,
          `b`,
          `any`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `l`.`id`,
            `l`.`a`,
            `l`.`b`,
            coalesce(`r`.`__st_found`, FALSE) AS `any`
          FROM `__st_step_1` AS `l`
          LEFT JOIN (
            SELECT DISTINCT
              `b_3`,
              TRUE AS `__st_found`
            FROM (
              SELECT
                `b_2` AS `b_3`
              FROM (
                SELECT
                  `t`.`b_2`
                FROM (
                  SELECT
                    `b` AS `b_2`
                  FROM `before`.`u`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_2` AS `k`
                  ON `t`.`b_2` = `k`.`b_3`
              ) AS `t`
            ) AS `k`
          ) AS `r`
            ON `a` = `b_3`
        ) AS `t`
      ) AS `t`
      WHERE
        `b` = 1 OR `any`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `b`,
      `any`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `__st_weight`
    FROM `__st_net_3` AS `t`
  ) AS `t`
  GROUP BY
    `id`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int
-- step __st_terms_1
WITH `__st_keys_1` AS (
  SELECT
    `b_3`
  FROM (
    SELECT
      `b_2` AS `b_3`,
      `__st_weight`
    FROM (
      SELECT
        `b` AS `b_2`,
        `__st_weight`
      FROM `__st_changes_u`
    ) AS `t`
  ) AS `t`
  WHERE
    NOT `b_3` IS NULL
)
SELECT
  `id`,
  `a`,
  `b`,
  CAST(1 AS BIGINT) AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`id`,
    `t`.`a`,
    `t`.`b`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`
    FROM `__st_after_r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`a` = `k`.`b_3`
) AS `t`
UNION ALL
SELECT
  `id`,
  `a`,
  `b`,
  -`__st_weight` AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`id`,
    `t`.`a`,
    `t`.`b`,
    `t`.`__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`a` = `k`.`b_3`
) AS `t`
-- step __st_step_1
WITH `__st_keys_2` AS (
  SELECT
    `b_3`
  FROM (
    SELECT
      `a` AS `b_3`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `b`,
        `__st_weight`
      FROM `__st_changes_r`
    ) AS `t`
    UNION ALL
    SELECT
      `a` AS `b_3`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `b_3` IS NULL
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`b_2`
FROM (
  SELECT
    `b` AS `b_2`
  FROM `__st_after_u`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`b_2` = `k`.`b_3`
-- answer
WITH `__st_step_2` AS (
  SELECT
    `b_2` AS `b_3`
  FROM `__st_step_1` AS `t`
), `__st_keys_2` AS (
  SELECT
    `b_3`
  FROM (
    SELECT
      `a` AS `b_3`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `b`,
        `__st_weight`
      FROM `__st_changes_r`
    ) AS `t`
    UNION ALL
    SELECT
      `a` AS `b_3`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `b_3` IS NULL
), `__st_net_1` AS (
  SELECT
    `b_3`,
    `__st_weight`
  FROM (
    SELECT
      `b_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `b_2` AS `b_3`,
        `__st_weight`
      FROM (
        SELECT
          `b_2`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM `__st_step_1` AS `t`
        UNION ALL
        SELECT
          `b_2`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`k`) */
            `t`.`b_2`,
            `t`.`__st_weight`
          FROM (
            SELECT
              `b` AS `b_2`,
              `__st_weight`
            FROM `__st_changes_u`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`b_2` = `k`.`b_3`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `b_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `id`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `b`,
          `any`,
          `__st_weight`
        FROM (
          SELECT
            `id`,
            `b`,
            `any`,
            `__st_weight`
          FROM (
            SELECT /*+ BROADCAST(`r`) */
              `l`.`id`,
              `l`.`a`,
              `l`.`b`,
              coalesce(`r`.`__st_found`, FALSE) AS `any`,
              `l`.`__st_weight`
            FROM (
              SELECT
                `id`,
                `a`,
                `b`,
                `__st_weight`
              FROM `__st_changes_r`
            ) AS `l`
            LEFT JOIN (
              SELECT DISTINCT
                `b_3`,
                TRUE AS `__st_found`
              FROM `__st_step_2` AS `k`
            ) AS `r`
              ON `a` = `b_3`
          ) AS `t`
          UNION ALL
          SELECT
            `id`,
            `b`,
            `any`,
            `__st_weight`
          FROM (
            SELECT /*+ BROADCAST(`r`) */
              `l`.`id`,
              `l`.`a`,
              `l`.`b`,
              coalesce(`r`.`__st_found`, FALSE) AS `any`,
              `l`.`__st_weight`
            FROM `__st_terms_1` AS `l`
            LEFT JOIN (
              SELECT DISTINCT
                `b_3`,
                TRUE AS `__st_found`
              FROM `__st_step_2` AS `k`
            ) AS `r`
              ON `a` = `b_3`
          ) AS `t`
          UNION ALL
          SELECT
            `id`,
            `b`,
            `any`,
            `__st_weight`
          FROM (
            SELECT
              `id`,
              `a`,
              `b`,
              `any`,
              -`__st_weight` AS `__st_weight`
            FROM (
              SELECT /*+ BROADCAST(`r`) */
                `l`.`id`,
                `l`.`a`,
                `l`.`b`,
                coalesce(`r`.`__st_found`, FALSE) AS `any`,
                `l`.`__st_weight`
              FROM `__st_terms_1` AS `l`
              LEFT JOIN (
                SELECT DISTINCT
                  `b_3`,
                  TRUE AS `__st_found`
                FROM (
                  SELECT
                    `b_3`
                  FROM (
                    SELECT
                      `b_3`,
                      CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
                      explode(
                        sequence(
                          CAST(1 AS BIGINT),
                          CAST(IF(
                            `__st_weight` < 0,
                            CAST(raise_error('streamtables: changes take away rows that were not there') AS BIGINT),
                            `__st_weight`
                          ) AS BIGINT)
                        )
                      ) AS `__st_n`
                    FROM `__st_net_1` AS `t`
                    WHERE
                      `__st_weight` <> 0
                  ) AS `s`
                ) AS `k`
              ) AS `r`
                ON `a` = `b_3`
            ) AS `t`
          ) AS `t`
        ) AS `t`
        WHERE
          `b` = 1 OR `any`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `__st_weight`
FROM `__st_net_2` AS `t`
-- found: __st_old_1_1_u(b) where b in (__st_changes_r.a, __st_changes_u.b)
-- found: __st_found_1_1_u(b) where b in (__st_changes_r.a, __st_changes_u.b)
-- found: __st_old_1_1_r(id, a, b) where a in (__st_changes_u.b)
