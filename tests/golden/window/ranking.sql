-- title: row_number gets tie-breakers, rank does not
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, c decimal(10,2)) key id
SELECT id, row_number() OVER (PARTITION BY a ORDER BY b) AS n, rank() OVER (PARTITION BY a ORDER BY b) AS k
FROM r
---- plan
Project id, row_number as n, rank as k  [linear]
  Window row_number() OVER (PARTITION BY a ORDER BY b, id ASC) as row_number, rank() OVER (PARTITION BY a ORDER BY b) as rank  [keyed]
    Scan r (id, a, b)  [linear]
---- delta plan
Net
  Project id, row_number as n, rank as k  [linear]
    Net
      Sum
        Window row_number() OVER (PARTITION BY a ORDER BY b, id ASC) as row_number, rank() OVER (PARTITION BY a ORDER BY b) as rank  [keyed]
          Restrict a <=> key a
            Scan after.r (id, a, b)  [linear]
            Keys a (#1)
              Net
                Scan changes.r (id, a, b)  [linear]
        Negate
          Window row_number() OVER (PARTITION BY a ORDER BY b, id ASC) as row_number, rank() OVER (PARTITION BY a ORDER BY b) as rank  [keyed]
            Restrict a <=> key a
              Scan before.r (id, a, b)  [linear]
              #1
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
), `__st_keys_1` AS (
  SELECT DISTINCT
    `a`
  FROM `__st_net_1` AS `t`
), `__st_net_2` AS (
  SELECT
    `id`,
    `a`,
    `b`,
    `row_number`,
    `rank`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      `row_number`,
      `rank`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `b`,
        `row_number`,
        `rank`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `b`,
          row_number() OVER (PARTITION BY `a` ORDER BY `b`, `id` ASC) AS `row_number`,
          rank() OVER (PARTITION BY `a` ORDER BY `b`) AS `rank`
        FROM (
          SELECT
            `t`.`id`,
            `t`.`a`,
            `t`.`b`
          FROM (
            SELECT
              `id`,
              `a`,
              `b`
            FROM `after`.`r`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `b`,
        `row_number`,
        `rank`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `b`,
          row_number() OVER (PARTITION BY `a` ORDER BY `b`, `id` ASC) AS `row_number`,
          rank() OVER (PARTITION BY `a` ORDER BY `b`) AS `rank`
        FROM (
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
            ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      `b`,
      `row_number`,
      `rank`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `n`,
  `k`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `n`,
    `k`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `row_number` AS `n`,
      `rank` AS `k`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `n`,
    `k`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, n int, k int
-- step __st_step_1
WITH `__st_keys_1` AS (
  SELECT
    `a`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
)
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
  ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
-- answer
WITH `__st_keys_1` AS (
  SELECT
    `a`
  FROM (
    SELECT
      `id`,
      `a`,
      `b`,
      `__st_weight`
    FROM `__st_changes_r`
  ) AS `t`
), `__st_net_1` AS (
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
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_1` AS `t`
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
          ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
      ) AS `t`
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
    `id`,
    `row_number`,
    `rank`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `row_number`,
      `rank`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `row_number`,
        `rank`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `id`,
          `row_number`,
          `rank`
        FROM (
          SELECT
            `id`,
            `a`,
            `b`,
            row_number() OVER (PARTITION BY `a` ORDER BY `b`, `id` ASC) AS `row_number`,
            rank() OVER (PARTITION BY `a` ORDER BY `b`) AS `rank`
          FROM `__st_step_1` AS `t`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `row_number`,
        `rank`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `b`,
          `row_number`,
          `rank`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `a`,
            `b`,
            row_number() OVER (PARTITION BY `a` ORDER BY `b`, `id` ASC) AS `row_number`,
            rank() OVER (PARTITION BY `a` ORDER BY `b`) AS `rank`
          FROM (
            SELECT
              `id`,
              `a`,
              `b`
            FROM (
              SELECT
                `id`,
                `a`,
                `b`,
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
          ) AS `t`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `row_number`,
      `rank`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `row_number` AS `n`,
  `rank` AS `k`,
  `__st_weight`
FROM `__st_net_2` AS `t`
-- found: __st_old_1_1_r(id, a, b) where a in (__st_changes_r.a)
-- found: __st_found_1_1_r(id, a, b) where a in (__st_changes_r.a)
