-- title: left anti join
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT r.id
FROM r
LEFT ANTI JOIN u ON r.a <=> u.a
---- plan
Project id  [linear]
  Existence anti a IS NOT DISTINCT FROM a_2  [keyed]
    Scan r (id, a)  [linear]
    Scan u (a as a_2)  [linear]
---- delta plan
Net
  Project id  [linear]
    Net
      Sum
        Existence anti a IS NOT DISTINCT FROM a_2  [keyed]
          Net (#1)
            Scan changes.r (id, a)  [linear]
          Restrict a_2 <=> key a_2 (#2)
            Scan after.u (a as a_2)  [linear]
            Keys a_2 (#3)
              Sum
                Project a as a_2  [linear]
                  #1
                Project a as a_2  [linear]
                  Restrict a <=> key a_2 (#4)
                    Scan before.r (id, a)  [linear]
                    Keys a_2
                      Net
                        Scan changes.u (a as a_2)  [linear]
        Existence anti a IS NOT DISTINCT FROM a_2  [keyed]
          #4
          #2
        Negate
          Existence anti a IS NOT DISTINCT FROM a_2  [keyed]
            #4
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
  FROM `__st_net_2` AS `t`
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
    ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_2`
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
), `__st_step_2` AS (
  SELECT
    `t`.`a_2`
  FROM (
    SELECT
      `a` AS `a_2`
    FROM `after`.`u`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_2` AS `k`
    ON `t`.`a_2` IS NOT DISTINCT FROM `k`.`a_2`
), `__st_net_3` AS (
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
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`,
          `l`.`__st_weight`
        FROM `__st_net_1` AS `l`
        LEFT ANTI JOIN `__st_step_2` AS `r`
          ON `a` IS NOT DISTINCT FROM `a_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`
        FROM `__st_step_1` AS `l`
        LEFT ANTI JOIN `__st_step_2` AS `r`
          ON `a` IS NOT DISTINCT FROM `a_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`a`
        FROM `__st_step_1` AS `l`
        LEFT ANTI JOIN (
          SELECT
            `t`.`a_2`
          FROM (
            SELECT
              `a` AS `a_2`
            FROM `before`.`u`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`a_2` IS NOT DISTINCT FROM `k`.`a_2`
        ) AS `r`
          ON `a` IS NOT DISTINCT FROM `a_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`
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
    `a_2`
  FROM (
    SELECT
      `a` AS `a_2`,
      `__st_weight`
    FROM `__st_changes_u`
  ) AS `t`
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
    ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_2`
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
    ON `t`.`a` IS NOT DISTINCT FROM `k`.`a_2`
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
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`a_2`
FROM (
  SELECT
    `a` AS `a_2`
  FROM `__st_after_u`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`a_2` IS NOT DISTINCT FROM `k`.`a_2`
-- answer
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
), `__st_net_1` AS (
  SELECT
    `a_2`,
    `__st_weight`
  FROM (
    SELECT
      `a_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
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
          ON `t`.`a_2` IS NOT DISTINCT FROM `k`.`a_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `a_2`
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
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`a`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `a`,
            `__st_weight`
          FROM `__st_changes_r`
        ) AS `l`
        LEFT ANTI JOIN `__st_step_1` AS `r`
          ON `a` IS NOT DISTINCT FROM `a_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`a`,
          `l`.`__st_weight`
        FROM `__st_terms_1` AS `l`
        LEFT ANTI JOIN `__st_step_1` AS `r`
          ON `a` IS NOT DISTINCT FROM `a_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`r`) */
            `l`.`id`,
            `l`.`a`,
            `l`.`__st_weight`
          FROM `__st_terms_1` AS `l`
          LEFT ANTI JOIN (
            SELECT
              `a_2`
            FROM (
              SELECT
                `a_2`,
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
          ) AS `r`
            ON `a` IS NOT DISTINCT FROM `a_2`
        ) AS `t`
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
-- found: __st_old_1_1_u(a) where a in (__st_changes_r.a, __st_changes_u.a)
-- found: __st_found_1_1_u(a) where a in (__st_changes_r.a, __st_changes_u.a)
-- found: __st_old_1_1_r(id, a) where a in (__st_changes_u.a)
