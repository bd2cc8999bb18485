-- title: an aggregate below a join is computed for the keys that changed
-- sources: orders(id int, cust int, amount decimal(10,2)) key id; customers(cust_id int, name string, region string) key cust_id
SELECT name, n
FROM customers
JOIN (SELECT cust, count(*) AS n FROM orders GROUP BY cust) AS o ON o.cust = cust_id
---- plan
Project name, n, cust_id as __st_key_cust_id  [linear]
  InnerJoin cust_2 = cust_id  [multilinear]
    Scan customers (cust_id, name)  [linear]
    Project cust as cust_2, count as n  [linear]
      Aggregate by cust: count(*) as count  [keyed]
        Scan orders (cust)  [linear]
---- delta plan
Net
  Project name, n  [linear]
    Sum
      InnerJoin cust_2 = cust_id  [multilinear]
        Net (#1)
          Scan changes.customers (cust_id, name)  [linear]
        Project cust as cust_2, count as n  [linear]
          Aggregate by cust: count(*) as count  [keyed]
            Restrict cust <=> key cust_id
              Scan after.orders (cust)  [linear]
              Keys cust_id
                #1
      InnerJoin cust_2 = cust_id  [multilinear]
        Scan before.customers (cust_id, name)  [linear]
        Project cust as cust_2, count as n  [linear]
          Net
            Sum
              Aggregate by cust: count(*) as count  [keyed]
                Restrict cust <=> key cust
                  Scan after.orders (cust)  [linear]
                  Keys cust (#2)
                    Net
                      Scan changes.orders (cust)  [linear]
              Negate
                Aggregate by cust: count(*) as count  [keyed]
                  Restrict cust <=> key cust
                    Scan before.orders (cust)  [linear]
                    #2
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `cust_id`,
    `name`,
    `__st_weight`
  FROM (
    SELECT
      `cust_id`,
      `name`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `cust_id`,
        `name`,
        `__st_weight`
      FROM `changes`.`customers`
    ) AS `t`
    GROUP BY
      `cust_id`,
      `name`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `cust_id`
  FROM `__st_net_1` AS `t`
  WHERE
    NOT `cust_id` IS NULL
), `__st_net_2` AS (
  SELECT
    `cust`,
    `__st_weight`
  FROM (
    SELECT
      `cust`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `cust`,
        `__st_weight`
      FROM `changes`.`orders`
    ) AS `t`
    GROUP BY
      `cust`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_2` AS (
  SELECT DISTINCT
    `cust`
  FROM `__st_net_2` AS `t`
), `__st_net_3` AS (
  SELECT
    `cust`,
    `count`,
    `__st_weight`
  FROM (
    SELECT
      `cust`,
      `count`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `cust`,
        `count`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          count(*) AS `count`
        FROM (
          SELECT
            `t`.`cust`
          FROM (
            SELECT
              `cust`
            FROM `after`.`orders`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`cust` IS NOT DISTINCT FROM `k`.`cust`
        ) AS `t`
        GROUP BY
          `cust`
      ) AS `t`
      UNION ALL
      SELECT
        `cust`,
        `count`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          count(*) AS `count`
        FROM (
          SELECT
            `t`.`cust`
          FROM (
            SELECT
              `cust`
            FROM `before`.`orders`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`cust` IS NOT DISTINCT FROM `k`.`cust`
        ) AS `t`
        GROUP BY
          `cust`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `cust`,
      `count`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `name`,
  `n`,
  `__st_weight`
FROM (
  SELECT
    `name`,
    `n`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `name`,
      `n`,
      `__st_weight`
    FROM (
      SELECT
        `cust_id`,
        `name`,
        `cust_2`,
        `n`,
        `t1`.`__st_weight`
      FROM `__st_net_1` AS `t1`
      JOIN (
        SELECT
          `cust` AS `cust_2`,
          `count` AS `n`
        FROM (
          SELECT
            `cust`,
            count(*) AS `count`
          FROM (
            SELECT
              `t`.`cust`
            FROM (
              SELECT
                `cust`
              FROM `after`.`orders`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`cust` = `k`.`cust_id`
          ) AS `t`
          GROUP BY
            `cust`
        ) AS `t`
      ) AS `t2`
        ON `cust_2` = `cust_id`
      UNION ALL
      SELECT
        `cust_id`,
        `name`,
        `cust_2`,
        `n`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `cust` AS `cust_2`,
          `count` AS `n`,
          `__st_weight`
        FROM `__st_net_3` AS `t`
      ) AS `t1`
      JOIN (
        SELECT
          `cust_id`,
          `name`
        FROM `before`.`customers`
      ) AS `t2`
        ON `cust_2` = `cust_id`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `name`,
    `n`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: name string, n bigint, __st_key_cust_id int
-- step __st_step_1
WITH `__st_keys_2` AS (
  SELECT
    `cust`
  FROM (
    SELECT
      `cust`,
      `__st_weight`
    FROM `__st_changes_orders`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`cust`
FROM (
  SELECT
    `cust`
  FROM `__st_after_orders`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`cust` IS NOT DISTINCT FROM `k`.`cust`
-- answer
WITH `__st_keys_1` AS (
  SELECT
    `cust_id`
  FROM (
    SELECT
      `cust_id`,
      `name`,
      `__st_weight`
    FROM `__st_changes_customers`
  ) AS `t`
  WHERE
    NOT `cust_id` IS NULL
), `__st_keys_2` AS (
  SELECT
    `cust`
  FROM (
    SELECT
      `cust`,
      `__st_weight`
    FROM `__st_changes_orders`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `cust`,
    `count`,
    `__st_weight`
  FROM (
    SELECT
      `cust`,
      `count`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `cust`,
        `count`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          count(*) AS `count`
        FROM `__st_step_1` AS `t`
        GROUP BY
          `cust`
      ) AS `t`
      UNION ALL
      SELECT
        `cust`,
        `count`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          coalesce(`count`, CAST(0 AS BIGINT)) AS `count`
        FROM (
          SELECT
            `cust`,
            `__st_weights`,
            `count`
          FROM (
            SELECT
              `cust`,
              sum(`__st_weight`) AS `__st_weights`,
              sum(`__st_weight`) AS `count`
            FROM (
              SELECT
                `cust`,
                `__st_weight`
              FROM (
                SELECT
                  `cust`,
                  CAST(1 AS BIGINT) AS `__st_weight`
                FROM `__st_step_1` AS `t`
                UNION ALL
                SELECT
                  `cust`,
                  -`__st_weight` AS `__st_weight`
                FROM (
                  SELECT /*+ BROADCAST(`k`) */
                    `t`.`cust`,
                    `t`.`__st_weight`
                  FROM (
                    SELECT
                      `cust`,
                      `__st_weight`
                    FROM `__st_changes_orders`
                  ) AS `t`
                  LEFT SEMI JOIN `__st_keys_2` AS `k`
                    ON `t`.`cust` IS NOT DISTINCT FROM `k`.`cust`
                ) AS `t`
              ) AS `t`
            ) AS `t`
            GROUP BY
              `cust`
          ) AS `t`
          WHERE
            `__st_weights` <> 0
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `cust`,
      `count`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `name`,
  `n`,
  `cust_id` AS `__st_key_cust_id`,
  `__st_weight`
FROM (
  SELECT
    `cust_id`,
    `name`,
    `n`,
    `__st_weight`
  FROM (
    SELECT
      `cust_id`,
      `name`,
      `cust_2`,
      `n`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `cust_id`,
        `name`,
        `cust_2`,
        `n`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `cust_id`,
          `name`,
          `__st_weight`
        FROM `__st_changes_customers`
      ) AS `t1`
      JOIN (
        SELECT
          `cust` AS `cust_2`,
          `count` AS `n`
        FROM (
          SELECT
            `cust`,
            count(*) AS `count`
          FROM (
            SELECT /*+ BROADCAST(`k`) */
              `t`.`cust`
            FROM (
              SELECT
                `cust`
              FROM `__st_after_orders`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`cust` = `k`.`cust_id`
          ) AS `t`
          GROUP BY
            `cust`
        ) AS `t`
      ) AS `t2`
        ON `cust_2` = `cust_id`
    ) AS `t1`
  ) AS `t`
  UNION ALL
  SELECT
    `cust_id`,
    `name`,
    `n`,
    `__st_weight`
  FROM (
    SELECT
      `cust_id`,
      `name`,
      `cust_2`,
      `n`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `cust_2`,
        `n`,
        `cust_id`,
        `name`,
        `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
      FROM (
        SELECT
          `cust` AS `cust_2`,
          `count` AS `n`,
          `__st_weight`
        FROM `__st_net_1` AS `t`
      ) AS `t1`
      JOIN (
        SELECT
          `cust_id`,
          `name`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `cust_id`,
            `name`
          FROM `__st_after_customers`
        ) AS `t`
        UNION ALL
        SELECT
          `cust_id`,
          `name`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT
            `cust_id`,
            `name`,
            `__st_weight`
          FROM `__st_changes_customers`
        ) AS `t`
      ) AS `t2`
        ON `cust_2` = `cust_id`
    ) AS `t1`
  ) AS `t`
) AS `t`
-- found: __st_old_1_1_customers(cust_id, name) where cust_id in (__st_changes_orders.cust)
-- found: __st_old_1_2_orders(cust) where cust in (__st_changes_orders.cust)
-- found: __st_found_1_2_orders(cust) where cust in (__st_changes_orders.cust)
-- found: __st_found_1_1_orders(cust) where cust in (__st_changes_customers.cust_id)
