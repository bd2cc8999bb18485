-- title: a join below an aggregate
-- sources: orders(id int, cust int, amount decimal(10,2)) key id; customers(cust_id int, name string, region string) key cust_id
SELECT region, sum(amount) AS total
FROM orders
JOIN customers ON cust = cust_id
GROUP BY region
---- plan
Project region, sum as total  [linear]
  Aggregate by region: sum(amount) as sum  [keyed]
    InnerJoin cust = cust_id  [multilinear]
      Scan orders (cust, amount)  [linear]
      Scan customers (cust_id, region)  [linear]
---- delta plan
Net
  Project region, sum as total  [linear]
    Net
      Sum
        Aggregate by region: sum(amount) as sum  [keyed]
          InnerJoin cust = cust_id  [multilinear]
            Scan after.orders (cust, amount)  [linear]
            Restrict region <=> key region
              Scan after.customers (cust_id, region)  [linear]
              Keys region (#1)
                Sum
                  InnerJoin cust = cust_id  [multilinear]
                    Net
                      Scan changes.orders (cust, amount)  [linear]
                    Scan after.customers (cust_id, region)  [linear]
                  InnerJoin cust = cust_id  [multilinear]
                    Scan before.orders (cust, amount)  [linear]
                    Net
                      Scan changes.customers (cust_id, region)  [linear]
        Negate
          Aggregate by region: sum(amount) as sum  [keyed]
            InnerJoin cust = cust_id  [multilinear]
              Scan before.orders (cust, amount)  [linear]
              Restrict region <=> key region
                Scan before.customers (cust_id, region)  [linear]
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
), `__st_net_2` AS (
  SELECT
    `cust_id`,
    `region`,
    `__st_weight`
  FROM (
    SELECT
      `cust_id`,
      `region`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `cust_id`,
        `region`,
        `__st_weight`
      FROM `changes`.`customers`
    ) AS `t`
    GROUP BY
      `cust_id`,
      `region`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `region`
  FROM (
    SELECT
      `cust`,
      `amount`,
      `cust_id`,
      `region`,
      `t1`.`__st_weight`
    FROM `__st_net_1` AS `t1`
    JOIN (
      SELECT
        `cust_id`,
        `region`
      FROM `after`.`customers`
    ) AS `t2`
      ON `cust` = `cust_id`
    UNION ALL
    SELECT
      `cust`,
      `amount`,
      `cust_id`,
      `region`,
      `t1`.`__st_weight`
    FROM `__st_net_2` AS `t1`
    JOIN (
      SELECT
        `cust`,
        `amount`
      FROM `before`.`orders`
    ) AS `t2`
      ON `cust` = `cust_id`
  ) AS `t`
), `__st_net_3` AS (
  SELECT
    `region`,
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `region`,
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `region`,
        `sum`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `region`,
          sum(`amount`) AS `sum`
        FROM (
          SELECT
            `cust`,
            `amount`,
            `cust_id`,
            `region`
          FROM (
            SELECT
              `t`.`cust_id`,
              `t`.`region`
            FROM (
              SELECT
                `cust_id`,
                `region`
              FROM `after`.`customers`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`region` IS NOT DISTINCT FROM `k`.`region`
          ) AS `t1`
          JOIN (
            SELECT
              `cust`,
              `amount`
            FROM `after`.`orders`
          ) AS `t2`
            ON `cust` = `cust_id`
        ) AS `t`
        GROUP BY
          `region`
      ) AS `t`
      UNION ALL
      SELECT
        `region`,
        `sum`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `region`,
          sum(`amount`) AS `sum`
        FROM (
          SELECT
            `cust`,
            `amount`,
            `cust_id`,
            `region`
          FROM (
            SELECT
              `t`.`cust_id`,
              `t`.`region`
            FROM (
              SELECT
                `cust_id`,
                `region`
              FROM `before`.`customers`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`region` IS NOT DISTINCT FROM `k`.`region`
          ) AS `t1`
          JOIN (
            SELECT
              `cust`,
              `amount`
            FROM `before`.`orders`
          ) AS `t2`
            ON `cust` = `cust_id`
        ) AS `t`
        GROUP BY
          `region`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `region`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `region`,
  `total`,
  `__st_weight`
FROM (
  SELECT
    `region`,
    `total`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `region`,
      `sum` AS `total`,
      `__st_weight`
    FROM `__st_net_3` AS `t`
  ) AS `t`
  GROUP BY
    `region`,
    `total`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- stored-state: every aggregate at the root follows from sums and counts, which add up
-- stored: region string, total decimal(20,2), __st_rows bigint, __st_sum_2 decimal(20,2), __st_count_1 bigint
-- answer
SELECT
  `region`,
  CAST(coalesce(`__st_rows`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_rows`,
  CAST(coalesce(`__st_sum_2_plus`, CAST(0 AS DECIMAL(20, 2))) AS DECIMAL(20, 2)) AS `__st_sum_2_plus`,
  CAST(coalesce(`__st_sum_2_minus`, CAST(0 AS DECIMAL(20, 2))) AS DECIMAL(20, 2)) AS `__st_sum_2_minus`,
  CAST(coalesce(`__st_count_1`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_1`
FROM (
  SELECT
    `region`,
    sum(`__st_weight`) AS `__st_rows`,
    sum(`amount`) FILTER(WHERE
      `__st_weight` > 0) AS `__st_sum_2_plus`,
    sum(`amount`) FILTER(WHERE
      `__st_weight` < 0) AS `__st_sum_2_minus`,
    sum(`__st_weight`) FILTER(WHERE
      NOT (
        `amount`
      ) IS NULL) AS `__st_count_1`
  FROM (
    SELECT
      `amount`,
      `region`,
      `__st_weight`
    FROM (
      SELECT
        `amount`,
        `region`,
        `__st_sign` AS `__st_weight`
      FROM (
        SELECT
          `amount`,
          `region`,
          CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
          explode(sequence(CAST(1 AS BIGINT), CAST(abs(`__st_weight`) AS BIGINT))) AS `__st_n`
        FROM (
          SELECT
            `amount`,
            `region`,
            `__st_weight`
          FROM (
            SELECT
              `cust`,
              `amount`,
              `cust_id`,
              `region`,
              `__st_weight`
            FROM (
              SELECT /*+ BROADCAST(`t1`) */
                `cust`,
                `amount`,
                `cust_id`,
                `region`,
                `t1`.`__st_weight`
              FROM (
                SELECT
                  `cust`,
                  `amount`,
                  `__st_weight`
                FROM `__st_changes_orders`
              ) AS `t1`
              JOIN (
                SELECT
                  `cust_id`,
                  `region`
                FROM `__st_after_customers`
              ) AS `t2`
                ON `cust` = `cust_id`
            ) AS `t1`
          ) AS `t`
          UNION ALL
          SELECT
            `amount`,
            `region`,
            `__st_weight`
          FROM (
            SELECT
              `cust`,
              `amount`,
              `cust_id`,
              `region`,
              `__st_weight`
            FROM (
              SELECT /*+ BROADCAST(`t1`) */
                `cust_id`,
                `region`,
                `cust`,
                `amount`,
                `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
              FROM (
                SELECT
                  `cust_id`,
                  `region`,
                  `__st_weight`
                FROM `__st_changes_customers`
              ) AS `t1`
              JOIN (
                SELECT
                  `cust`,
                  `amount`,
                  CAST(1 AS BIGINT) AS `__st_weight`
                FROM (
                  SELECT
                    `cust`,
                    `amount`
                  FROM `__st_after_orders`
                ) AS `t`
                UNION ALL
                SELECT
                  `cust`,
                  `amount`,
                  -`__st_weight` AS `__st_weight`
                FROM (
                  SELECT
                    `cust`,
                    `amount`,
                    `__st_weight`
                  FROM `__st_changes_orders`
                ) AS `t`
              ) AS `t2`
                ON `cust` = `cust_id`
            ) AS `t1`
          ) AS `t`
        ) AS `t`
        WHERE
          `__st_weight` <> 0
      ) AS `s`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `region`
) AS `t`
-- found: __st_old_1_1_orders(cust, amount) where cust in (__st_changes_customers.cust_id)
-- found: __st_found_1_1_customers(cust_id, region) where cust_id in (__st_changes_orders.cust)
