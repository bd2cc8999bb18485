-- title: sums and counts at the root are kept by stored state
-- sources: orders(id int, cust int, amount decimal(10,2)) key id
SELECT cust, count(*) AS orders, sum(amount) AS total
FROM orders
GROUP BY cust
---- plan
Project cust, count as orders, sum as total  [linear]
  Aggregate by cust: count(*) as count, sum(amount) as sum  [keyed]
    Scan orders (cust, amount)  [linear]
---- delta plan
Net
  Project cust, count as orders, sum as total  [linear]
    Net
      Sum
        Aggregate by cust: count(*) as count, sum(amount) as sum  [keyed]
          Restrict cust <=> key cust
            Scan after.orders (cust, amount)  [linear]
            Keys cust (#1)
              Net
                Scan changes.orders (cust, amount)  [linear]
        Negate
          Aggregate by cust: count(*) as count, sum(amount) as sum  [keyed]
            Restrict cust <=> key cust
              Scan before.orders (cust, amount)  [linear]
              #1
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `cust`,
    `amount`,
    `__st_weight`
  FROM (
    SELECT
      `cust`,
      `amount`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `cust`,
        `amount`,
        `__st_weight`
      FROM `changes`.`orders`
    ) AS `t`
    GROUP BY
      `cust`,
      `amount`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `cust`
  FROM `__st_net_1` AS `t`
), `__st_net_2` AS (
  SELECT
    `cust`,
    `count`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `cust`,
      `count`,
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `cust`,
        `count`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          count(*) AS `count`,
          sum(`amount`) AS `sum`
        FROM (
          SELECT
            `t`.`cust`,
            `t`.`amount`
          FROM (
            SELECT
              `cust`,
              `amount`
            FROM `after`.`orders`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`cust` IS NOT DISTINCT FROM `k`.`cust`
        ) AS `t`
        GROUP BY
          `cust`
      ) AS `t`
      UNION ALL
      SELECT
        `cust`,
        `count`,
        `sum`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          count(*) AS `count`,
          sum(`amount`) AS `sum`
        FROM (
          SELECT
            `t`.`cust`,
            `t`.`amount`
          FROM (
            SELECT
              `cust`,
              `amount`
            FROM `before`.`orders`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`cust` IS NOT DISTINCT FROM `k`.`cust`
        ) AS `t`
        GROUP BY
          `cust`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `cust`,
      `count`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `cust`,
  `orders`,
  `total`,
  `__st_weight`
FROM (
  SELECT
    `cust`,
    `orders`,
    `total`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `cust`,
      `count` AS `orders`,
      `sum` AS `total`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `cust`,
    `orders`,
    `total`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- stored-state: every aggregate at the root follows from sums and counts, which add up
-- stored: cust int, orders bigint, total decimal(20,2), __st_rows bigint, __st_sum_3 decimal(20,2), __st_count_2 bigint
-- answer
SELECT
  `cust`,
  CAST(coalesce(`__st_rows`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_rows`,
  CAST(coalesce(`__st_sum_3_plus`, CAST(0 AS DECIMAL(20, 2))) AS DECIMAL(20, 2)) AS `__st_sum_3_plus`,
  CAST(coalesce(`__st_sum_3_minus`, CAST(0 AS DECIMAL(20, 2))) AS DECIMAL(20, 2)) AS `__st_sum_3_minus`,
  CAST(coalesce(`__st_count_2`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_2`
FROM (
  SELECT
    `cust`,
    sum(`__st_weight`) AS `__st_rows`,
    sum(`amount`) FILTER(WHERE
      `__st_weight` > 0) AS `__st_sum_3_plus`,
    sum(`amount`) FILTER(WHERE
      `__st_weight` < 0) AS `__st_sum_3_minus`,
    sum(`__st_weight`) FILTER(WHERE
      NOT (
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
  GROUP BY
    `cust`
) AS `t`
