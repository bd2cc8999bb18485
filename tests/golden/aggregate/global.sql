-- title: without GROUP BY there is one row, always
-- sources: orders(id int, cust int, amount decimal(10,2)) key id
SELECT count(*) AS n, sum(amount) FILTER (WHERE cust = 1) AS total
FROM orders
---- plan
Project count as n, sum as total  [linear]
  Aggregate of all rows: count(*) as count, sum(amount) FILTER(WHERE cust = 1) as sum  [whole]
    Scan orders (cust, amount)  [linear]
---- delta plan
Net
  Project count as n, sum as total  [linear]
    Net
      Sum
        Aggregate of all rows: count(*) as count, sum(amount) FILTER(WHERE cust = 1) as sum  [whole]
          Scan after.orders (cust, amount)  [linear]
        Negate
          Aggregate of all rows: count(*) as count, sum(amount) FILTER(WHERE cust = 1) as sum  [whole]
            Scan before.orders (cust, amount)  [linear]
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `count`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `count`,
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `count`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          count(*) AS `count`,
          sum(`amount`) FILTER(WHERE
            `cust` = 1) AS `sum`
        FROM (
          SELECT
            `cust`,
            `amount`
          FROM `after`.`orders`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `count`,
        `sum`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          count(*) AS `count`,
          sum(`amount`) FILTER(WHERE
            `cust` = 1) AS `sum`
        FROM (
          SELECT
            `cust`,
            `amount`
          FROM `before`.`orders`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `count`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `n`,
  `total`,
  `__st_weight`
FROM (
  SELECT
    `n`,
    `total`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `count` AS `n`,
      `sum` AS `total`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `n`,
    `total`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- stored-state: every aggregate at the root follows from sums and counts, which add up
-- stored: n bigint, total decimal(20,2), __st_rows bigint, __st_sum_3 decimal(20,2), __st_count_2 bigint
-- answer
SELECT
  CAST(coalesce(`__st_rows`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_rows`,
  CAST(coalesce(`__st_sum_3_plus`, CAST(0 AS DECIMAL(20, 2))) AS DECIMAL(20, 2)) AS `__st_sum_3_plus`,
  CAST(coalesce(`__st_sum_3_minus`, CAST(0 AS DECIMAL(20, 2))) AS DECIMAL(20, 2)) AS `__st_sum_3_minus`,
  CAST(coalesce(`__st_count_2`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_2`
FROM (
  SELECT
    sum(`__st_weight`) AS `__st_rows`,
    sum(`amount`) FILTER(WHERE
      `__st_weight` > 0 AND (
        `cust` = 1
      )) AS `__st_sum_3_plus`,
    sum(`amount`) FILTER(WHERE
      `__st_weight` < 0 AND (
        `cust` = 1
      )) AS `__st_sum_3_minus`,
    sum(`__st_weight`) FILTER(WHERE
      (
        `cust` = 1
      ) AND NOT (
        `amount`
      ) IS NULL) AS `__st_count_2`
  FROM (
    SELECT
      `cust`,
      `amount`,
      `__st_weight`
    FROM (
      SELECT
        `cust`,
        `amount`,
        `__st_sign` AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          `amount`,
          CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
          explode(sequence(CAST(1 AS BIGINT), CAST(abs(`__st_weight`) AS BIGINT))) AS `__st_n`
        FROM (
          SELECT
            `cust`,
            `amount`,
            `__st_weight`
          FROM `__st_changes_orders`
        ) AS `t`
        WHERE
          `__st_weight` <> 0
      ) AS `s`
    ) AS `t`
  ) AS `t`
) AS `t`
