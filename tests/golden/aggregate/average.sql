-- title: an average follows from a sum and a count
-- sources: t(g int, n int)
SELECT g, avg(n) AS mean
FROM t
GROUP BY g
---- plan
Project g, avg as mean  [linear]
  Aggregate by g: avg(n) as avg  [keyed]
    Scan t (g, n)  [linear]
---- delta plan
Net
  Project g, avg as mean  [linear]
    Net
      Sum
        Aggregate by g: avg(n) as avg  [keyed]
          Restrict g <=> key g
            Scan after.t (g, n)  [linear]
            Keys g (#1)
              Scan changes.t (g, n)  [linear]
        Negate
          Aggregate by g: avg(n) as avg  [keyed]
            Restrict g <=> key g
              Scan before.t (g, n)  [linear]
              #1
---- delta sql (spark)
WITH `__st_keys_1` AS (
  SELECT DISTINCT
    `g`
  FROM (
    SELECT
      `g`,
      `n`,
      `__st_weight`
    FROM `changes`.`t`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `g`,
    `avg`,
    `__st_weight`
  FROM (
    SELECT
      `g`,
      any_value(`avg`) AS `avg`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `g`,
        `avg`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `g`,
          avg(`n`) AS `avg`
        FROM (
          SELECT
            `t`.`g`,
            `t`.`n`
          FROM (
            SELECT
              `g`,
              `n`
            FROM `after`.`t`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`g` IS NOT DISTINCT FROM `k`.`g`
        ) AS `t`
        GROUP BY
          `g`
      ) AS `t`
      UNION ALL
      SELECT
        `g`,
        `avg`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `g`,
          avg(`n`) AS `avg`
        FROM (
          SELECT
            `t`.`g`,
            `t`.`n`
          FROM (
            SELECT
              `g`,
              `n`
            FROM `before`.`t`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`g` IS NOT DISTINCT FROM `k`.`g`
        ) AS `t`
        GROUP BY
          `g`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `g`,
      CAST(`avg` AS STRING)
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `g`,
  `mean`,
  `__st_weight`
FROM (
  SELECT
    `g`,
    any_value(`mean`) AS `mean`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `g`,
      `avg` AS `mean`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `g`,
    CAST(`mean` AS STRING)
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- stored-state: every aggregate at the root follows from sums and counts, which add up
-- stored: g int, mean double, __st_rows bigint, __st_sum_2 decimal(38,0), __st_count_1 bigint
-- answer
SELECT
  `g`,
  CAST(coalesce(`__st_rows`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_rows`,
  CAST(coalesce(`__st_sum_2_plus`, CAST(0 AS DECIMAL(38, 0))) AS DECIMAL(38, 0)) AS `__st_sum_2_plus`,
  CAST(coalesce(`__st_sum_2_minus`, CAST(0 AS DECIMAL(38, 0))) AS DECIMAL(38, 0)) AS `__st_sum_2_minus`,
  CAST(coalesce(`__st_count_1`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_1`
FROM (
  SELECT
    `g`,
    sum(`__st_weight`) AS `__st_rows`,
    sum(CAST(`n` AS DECIMAL(20, 0))) FILTER(WHERE
      `__st_weight` > 0) AS `__st_sum_2_plus`,
    sum(CAST(`n` AS DECIMAL(20, 0))) FILTER(WHERE
      `__st_weight` < 0) AS `__st_sum_2_minus`,
    sum(`__st_weight`) FILTER(WHERE
      NOT (
        `n`
      ) IS NULL) AS `__st_count_1`
  FROM (
    SELECT
      `g`,
      `n`,
      `__st_weight`
    FROM (
      SELECT
        `g`,
        `n`,
        `__st_sign` AS `__st_weight`
      FROM (
        SELECT
          `g`,
          `n`,
          CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
          explode(sequence(CAST(1 AS BIGINT), CAST(abs(`__st_weight`) AS BIGINT))) AS `__st_n`
        FROM (
          SELECT
            `g`,
            `n`,
            `__st_weight`
          FROM `__st_changes_t`
        ) AS `t`
        WHERE
          `__st_weight` <> 0
      ) AS `s`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `g`
) AS `t`
