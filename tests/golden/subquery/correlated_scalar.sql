-- title: a correlated scalar subquery is a grouped left join
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT id, (SELECT count(*) FROM u WHERE u.a = r.a) AS n
FROM r
---- plan
Project id, CASE WHEN found THEN count ELSE (CAST(0 AS BIGINT)) END as n  [linear]
  LeftJoin a = a_2  [keyed]
    Scan r (id, a)  [linear]
    Project a_2, count, TRUE as found  [linear]
      Aggregate by a_2: count(*) as count  [keyed]
        Scan u (a as a_2)  [linear]
---- delta plan
Net
  Project id, CASE WHEN found THEN count ELSE (CAST(0 AS BIGINT)) END as n  [linear]
    Net
      Sum
        LeftJoin a = a_2  [keyed]
          Net (#1)
            Scan changes.r (id, a)  [linear]
          Project a_2, count, TRUE as found (#2)  [linear]
            Aggregate by a_2: count(*) as count  [keyed]
              Restrict a_2 <=> key a_2
                Scan after.u (a as a_2)  [linear]
                Keys a_2 (#3)
                  Sum
                    Project a as a_2  [linear]
                      #1
                    Project a as a_2  [linear]
                      Restrict a <=> key a_2 (#4)
                        Scan before.r (id, a)  [linear]
                        Keys a_2
                          Project a_2  [linear]
                            Net
                              Scan changes.u (a as a_2)  [linear]
        LeftJoin a = a_2  [keyed]
          #4
          #2
        Negate
          LeftJoin a = a_2  [keyed]
            #4
            Project a_2, count, TRUE as found  [linear]
              Aggregate by a_2: count(*) as count  [keyed]
                Restrict a_2 <=> key a_2
                  Scan before.u (a as a_2)  [linear]
                  #3
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `id`,
    `a`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `__st_weight`
      FROM `changes`.`r`
    ) AS `t`
    GROUP BY
      `id`,
      `a`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `a_2`,
    `__st_weight`
  FROM (
    SELECT
      `a_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `a_2`,
        `__st_weight`
      FROM `changes`.`u`
    ) AS `t`
    GROUP BY
      `a_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `a_2`
  FROM (
    SELECT
      `a_2`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  WHERE
    NOT `a_2` IS NULL
), `__st_step_1` AS (
  SELECT
    `t`.`id`,
    `t`.`a`
  FROM (
    SELECT
      `id`,
      `a`
    FROM `before`.`r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`a` = `k`.`a_2`
), `__st_keys_2` AS (
  SELECT DISTINCT
    `a_2`
  FROM (
    SELECT
      `a` AS `a_2`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
    UNION ALL
    SELECT
      `a_2`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `a` AS `a_2`
      FROM `__st_step_1` AS `t`
    ) AS `t`
  ) AS `t`
  WHERE
    NOT `a_2` IS NULL
), `__st_step_2` AS (
  SELECT
    `a_2`,
    `count`,
    TRUE AS `found`
  FROM (
    SELECT
      `a_2`,
      count(*) AS `count`
    FROM (
      SELECT
        `t`.`a_2`
      FROM (
        SELECT
          `a` AS `a_2`
        FROM `after`.`u`
      ) AS `t`
      LEFT SEMI JOIN `__st_keys_2` AS `k`
        ON `t`.`a_2` = `k`.`a_2`
    ) AS `t`
    GROUP BY
      `a_2`
  ) AS `t`
), `__st_net_3` AS (
  SELECT
    `id`,
    `a`,
    `a_2`,
    `count`,
    `found`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `a_2`,
      `count`,
      `found`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `l`.`id`,
        `l`.`a`,
        `r`.`a_2`,
        `r`.`count`,
        `r`.`found`,
        `l`.`__st_weight`
      FROM `__st_net_1` AS `l`
      LEFT JOIN `__st_step_2` AS `r`
        ON `a` = `a_2`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `a_2`,
        `count`,
        `found`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`,
          `r`.`a_2`,
          `r`.`count`,
          `r`.`found`
        FROM `__st_step_1` AS `l`
        LEFT JOIN `__st_step_2` AS `r`
          ON `a` = `a_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `a_2`,
        `count`,
        `found`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`,
          `r`.`a_2`,
          `r`.`count`,
          `r`.`found`
        FROM `__st_step_1` AS `l`
        LEFT JOIN (
          SELECT
            `a_2`,
            `count`,
            TRUE AS `found`
          FROM (
            SELECT
              `a_2`,
              count(*) AS `count`
            FROM (
              SELECT
                `t`.`a_2`
              FROM (
                SELECT
                  `a` AS `a_2`
                FROM `before`.`u`
              ) AS `t`
              LEFT SEMI JOIN `__st_keys_2` AS `k`
                ON `t`.`a_2` = `k`.`a_2`
            ) AS `t`
            GROUP BY
              `a_2`
          ) AS `t`
        ) AS `r`
          ON `a` = `a_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `a_2`,
      `count`,
      `found`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `n`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `n`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      CASE WHEN `found` THEN `count` ELSE (
        CAST(0 AS BIGINT)
      ) END AS `n`,
      `__st_weight`
    FROM `__st_net_3` AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `n`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, n bigint
-- step __st_terms_1
WITH `__st_keys_1` AS (
  SELECT
    `a_2`
  FROM (
    SELECT
      `a_2`,
      `__st_weight`
    FROM (
      SELECT
        `a` AS `a_2`,
        `__st_weight`
      FROM `__st_changes_u`
    ) AS `t`
  ) AS `t`
  WHERE
    NOT `a_2` IS NULL
)
SELECT
  `id`,
  `a`,
  CAST(1 AS BIGINT) AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`id`,
    `t`.`a`
  FROM (
    SELECT
      `id`,
      `a`
    FROM `__st_after_r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`a` = `k`.`a_2`
) AS `t`
UNION ALL
SELECT
  `id`,
  `a`,
  -`__st_weight` AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`id`,
    `t`.`a`,
    `t`.`__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`a` = `k`.`a_2`
) AS `t`
-- step __st_step_1
WITH `__st_keys_2` AS (
  SELECT
    `a_2`
  FROM (
    SELECT
      `a` AS `a_2`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `__st_weight`
      FROM `__st_changes_r`
    ) AS `t`
    UNION ALL
    SELECT
      `a` AS `a_2`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `a_2` IS NULL
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`a_2`
FROM (
  SELECT
    `a` AS `a_2`
  FROM `__st_after_u`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`a_2` = `k`.`a_2`
-- answer
WITH `__st_step_2` AS (
  SELECT
    `a_2`,
    `count`,
    TRUE AS `found`
  FROM (
    SELECT
      `a_2`,
      count(*) AS `count`
    FROM `__st_step_1` AS `t`
    GROUP BY
      `a_2`
  ) AS `t`
), `__st_keys_2` AS (
  SELECT
    `a_2`
  FROM (
    SELECT
      `a` AS `a_2`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `__st_weight`
      FROM `__st_changes_r`
    ) AS `t`
    UNION ALL
    SELECT
      `a` AS `a_2`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `a_2` IS NULL
), `__st_net_1` AS (
  SELECT
    `id`,
    `count`,
    `found`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `count`,
      `found`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `count`,
        `found`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`a`,
          `r`.`a_2`,
          `r`.`count`,
          `r`.`found`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `a`,
            `__st_weight`
          FROM `__st_changes_r`
        ) AS `l`
        LEFT JOIN `__st_step_2` AS `r`
          ON `a` = `a_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `count`,
        `found`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`a`,
          `r`.`a_2`,
          `r`.`count`,
          `r`.`found`,
          `l`.`__st_weight`
        FROM `__st_terms_1` AS `l`
        LEFT JOIN `__st_step_2` AS `r`
          ON `a` = `a_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `count`,
        `found`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `a_2`,
          `count`,
          `found`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`r`) */
            `l`.`id`,
            `l`.`a`,
            `r`.`a_2`,
            `r`.`count`,
            `r`.`found`,
            `l`.`__st_weight`
          FROM `__st_terms_1` AS `l`
          LEFT JOIN (
            SELECT
              `a_2`,
              `count`,
              TRUE AS `found`
            FROM (
              SELECT
                `a_2`,
                coalesce(`count`, CAST(0 AS BIGINT)) AS `count`
              FROM (
                SELECT
                  `a_2`,
                  `__st_weights`,
                  `count`
                FROM (
                  SELECT
                    `a_2`,
                    sum(`__st_weight`) AS `__st_weights`,
                    sum(`__st_weight`) AS `count`
                  FROM (
                    SELECT
                      `a_2`,
                      `__st_weight`
                    FROM (
                      SELECT
                        `a_2`,
                        CAST(1 AS BIGINT) AS `__st_weight`
                      FROM `__st_step_1` AS `t`
                      UNION ALL
                      SELECT
                        `a_2`,
                        -`__st_weight` AS `__st_weight`
                      FROM (
                        SELECT /*+ BROADCAST(`k`) */
                          `t`.`a_2`,
                          `t`.`__st_weight`
                        FROM (
                          SELECT
                            `a` AS `a_2`,
                            `__st_weight`
                          FROM `__st_changes_u`
                        ) AS `t`
                        LEFT SEMI JOIN `__st_keys_2` AS `k`
                          ON `t`.`a_2` = `k`.`a_2`
                      ) AS `t`
                    ) AS `t`
                  ) AS `t`
                  GROUP BY
                    `a_2`
                ) AS `t`
                WHERE
                  `__st_weights` <> 0
              ) AS `t`
            ) AS `t`
          ) AS `r`
            ON `a` = `a_2`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `count`,
      `found`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  CASE WHEN `found` THEN `count` ELSE (
    CAST(0 AS BIGINT)
  ) END AS `n`,
  `__st_weight`
FROM `__st_net_1` AS `t`
-- found: __st_old_1_1_u(a) where a in (__st_changes_r.a, __st_changes_u.a)
-- found: __st_found_1_1_u(a) where a in (__st_changes_r.a, __st_changes_u.a)
-- found: __st_old_1_1_r(id, a) where a in (__st_changes_u.a)
