-- title: a running sum of floats: row by row in an order without ties, and all peers show the last of them
-- sources: r(id int, a int, b int, s string) key id; u(a int, b int); t(id int, a int, x double, d date) key id
SELECT id, sum(x) OVER (PARTITION BY a ORDER BY d) AS n, count(x) OVER (PARTITION BY a ORDER BY d) AS c
FROM t
---- plan
Project id, sum as n, count as c  [linear]
  Window max_by(sum_by_row, place) OVER (PARTITION BY a ORDER BY d RANGE BETWEEN CURRENT ROW AND CURRENT ROW) as sum  [keyed]
    Window sum(x) OVER (PARTITION BY a ORDER BY d, id ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) as sum_by_row, row_number() OVER (PARTITION BY a ORDER BY d, id ASC) as place, count(x) OVER (PARTITION BY a ORDER BY d) as count  [keyed]
      Scan t (id, a, x, d)  [linear]
---- delta plan
Net
  Project id, sum as n, count as c  [linear]
    Net
      Sum
        Window max_by(sum_by_row, place) OVER (PARTITION BY a ORDER BY d RANGE BETWEEN CURRENT ROW AND CURRENT ROW) as sum  [keyed]
          Window sum(x) OVER (PARTITION BY a ORDER BY d, id ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) as sum_by_row, row_number() OVER (PARTITION BY a ORDER BY d, id ASC) as place, count(x) OVER (PARTITION BY a ORDER BY d) as count  [keyed]
            Restrict a <=> key a
              Scan after.t (id, a, x, d)  [linear]
              Keys a (#1)
                Scan changes.t (id, a, x, d)  [linear]
        Negate
          Window max_by(sum_by_row, place) OVER (PARTITION BY a ORDER BY d RANGE BETWEEN CURRENT ROW AND CURRENT ROW) as sum  [keyed]
            Window sum(x) OVER (PARTITION BY a ORDER BY d, id ASC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) as sum_by_row, row_number() OVER (PARTITION BY a ORDER BY d, id ASC) as place, count(x) OVER (PARTITION BY a ORDER BY d) as count  [keyed]
              Restrict a <=> key a
                Scan before.t (id, a, x, d)  [linear]
                #1
---- delta sql (spark)
WITH `__st_keys_1` AS (
  SELECT DISTINCT
    `a`
  FROM (
    SELECT
      `id`,
      `a`,
      `x`,
      `d`,
      `__st_weight`
    FROM `changes`.`t`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `id`,
    `a`,
    `x`,
    `d`,
    `sum_by_row`,
    `place`,
    `count`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      any_value(`x`) AS `x`,
      `d`,
      any_value(`sum_by_row`) AS `sum_by_row`,
      `place`,
      `count`,
      any_value(`sum`) AS `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `x`,
        `d`,
        `sum_by_row`,
        `place`,
        `count`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `x`,
          `d`,
          `sum_by_row`,
          `place`,
          `count`,
          max_by(`sum_by_row`, `place`) OVER (PARTITION BY `a` ORDER BY `d` RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS `sum`
        FROM (
          SELECT
            `id`,
            `a`,
            `x`,
            `d`,
            sum(`x`) OVER (
              PARTITION BY `a`
              ORDER BY `d`, `id` ASC
              ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS `sum_by_row`,
            row_number() OVER (PARTITION BY `a` ORDER BY `d`, `id` ASC) AS `place`,
            count(`x`) OVER (PARTITION BY `a` ORDER BY `d`) AS `count`
          FROM (
            SELECT
              `t`.`id`,
              `t`.`a`,
              `t`.`x`,
              `t`.`d`
            FROM (
              SELECT
                `id`,
                `a`,
                `x`,
                `d`
              FROM `after`.`t`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
          ) AS `t`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `x`,
        `d`,
        `sum_by_row`,
        `place`,
        `count`,
        `sum`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `x`,
          `d`,
          `sum_by_row`,
          `place`,
          `count`,
          max_by(`sum_by_row`, `place`) OVER (PARTITION BY `a` ORDER BY `d` RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS `sum`
        FROM (
          SELECT
            `id`,
            `a`,
            `x`,
            `d`,
            sum(`x`) OVER (
              PARTITION BY `a`
              ORDER BY `d`, `id` ASC
              ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS `sum_by_row`,
            row_number() OVER (PARTITION BY `a` ORDER BY `d`, `id` ASC) AS `place`,
            count(`x`) OVER (PARTITION BY `a` ORDER BY `d`) AS `count`
          FROM (
            SELECT
              `t`.`id`,
              `t`.`a`,
              `t`.`x`,
              `t`.`d`
            FROM (
              SELECT
                `id`,
                `a`,
                `x`,
                `d`
              FROM `before`.`t`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
          ) AS `t`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      CAST(`x` AS STRING),
      `d`,
      CAST(`sum_by_row` AS STRING),
      `place`,
      `count`,
      CAST(`sum` AS STRING)
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `n`,
  `c`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    any_value(`n`) AS `n`,
    `c`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `sum` AS `n`,
      `count` AS `c`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    CAST(`n` AS STRING),
    `c`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, n double, c bigint
-- step __st_step_1
WITH `__st_keys_1` AS (
  SELECT
    `a`
  FROM (
    SELECT
      `id`,
      `a`,
      `x`,
      `d`,
      `__st_weight`
    FROM `__st_changes_t`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`id`,
  `t`.`a`,
  `t`.`x`,
  `t`.`d`
FROM (
  SELECT
    `id`,
    `a`,
    `x`,
    `d`
  FROM `__st_after_t`
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
      `x`,
      `d`,
      `__st_weight`
    FROM `__st_changes_t`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `id`,
    `a`,
    `x`,
    `d`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `a`,
      any_value(`x`) AS `x`,
      `d`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `a`,
        `x`,
        `d`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_1` AS `t`
      UNION ALL
      SELECT
        `id`,
        `a`,
        `x`,
        `d`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`k`) */
          `t`.`id`,
          `t`.`a`,
          `t`.`x`,
          `t`.`d`,
          `t`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `a`,
            `x`,
            `d`,
            `__st_weight`
          FROM `__st_changes_t`
        ) AS `t`
        LEFT SEMI JOIN `__st_keys_1` AS `k`
          ON `t`.`a` IS NOT DISTINCT FROM `k`.`a`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `a`,
      CAST(`x` AS STRING),
      `d`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `id`,
    `count`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `count`,
      any_value(`sum`) AS `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `count`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `id`,
          `count`,
          `sum`
        FROM (
          SELECT
            `id`,
            `a`,
            `x`,
            `d`,
            `sum_by_row`,
            `place`,
            `count`,
            max_by(`sum_by_row`, `place`) OVER (PARTITION BY `a` ORDER BY `d` RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS `sum`
          FROM (
            SELECT
              `id`,
              `a`,
              `x`,
              `d`,
              sum(`x`) OVER (
                PARTITION BY `a`
                ORDER BY `d`, `id` ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              ) AS `sum_by_row`,
              row_number() OVER (PARTITION BY `a` ORDER BY `d`, `id` ASC) AS `place`,
              count(`x`) OVER (PARTITION BY `a` ORDER BY `d`) AS `count`
            FROM `__st_step_1` AS `t`
          ) AS `t`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `count`,
        `sum`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `a`,
          `x`,
          `d`,
          `sum_by_row`,
          `place`,
          `count`,
          `sum`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `a`,
            `x`,
            `d`,
            `sum_by_row`,
            `place`,
            `count`,
            max_by(`sum_by_row`, `place`) OVER (PARTITION BY `a` ORDER BY `d` RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS `sum`
          FROM (
            SELECT
              `id`,
              `a`,
              `x`,
              `d`,
              sum(`x`) OVER (
                PARTITION BY `a`
                ORDER BY `d`, `id` ASC
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
              ) AS `sum_by_row`,
              row_number() OVER (PARTITION BY `a` ORDER BY `d`, `id` ASC) AS `place`,
              count(`x`) OVER (PARTITION BY `a` ORDER BY `d`) AS `count`
            FROM (
              SELECT
                `id`,
                `a`,
                `x`,
                `d`
              FROM (
                SELECT
                  `id`,
                  `a`,
                  `x`,
                  `d`,
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
    ) AS `t`
    GROUP BY
      `id`,
      `count`,
      CAST(`sum` AS STRING)
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `sum` AS `n`,
  `count` AS `c`,
  `__st_weight`
FROM `__st_net_2` AS `t`
-- found: __st_old_1_1_t(id, a, x, d) where a in (__st_changes_t.a)
-- found: __st_found_1_1_t(id, a, x, d) where a in (__st_changes_t.a)
