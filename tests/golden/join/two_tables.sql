-- title: inner join, both sides may change
-- sources: orders(id int, cust int, amount decimal(10,2)) key id; customers(cust_id int, name string, region string) key cust_id
SELECT id, name
FROM orders
JOIN customers ON cust = cust_id
---- plan
Project id, name  [linear]
  InnerJoin cust = cust_id  [multilinear]
    Scan orders (id, cust)  [linear]
    Scan customers (cust_id, name)  [linear]
---- delta plan
Net
  Project id, name  [linear]
    Sum
      InnerJoin cust = cust_id  [multilinear]
        Net
          Scan changes.orders (id, cust)  [linear]
        Scan after.customers (cust_id, name)  [linear]
      InnerJoin cust = cust_id  [multilinear]
        Scan before.orders (id, cust)  [linear]
        Net
          Scan changes.customers (cust_id, name)  [linear]
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `id`,
    `cust`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `cust`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `cust`,
        `__st_weight`
      FROM `changes`.`orders`
    ) AS `t`
    GROUP BY
      `id`,
      `cust`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
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
)
SELECT
  `id`,
  `name`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `name`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `name`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `cust`,
        `cust_id`,
        `name`,
        `t1`.`__st_weight`
      FROM `__st_net_1` AS `t1`
      JOIN (
        SELECT
          `cust_id`,
          `name`
        FROM `after`.`customers`
      ) AS `t2`
        ON `cust` = `cust_id`
      UNION ALL
      SELECT
        `id`,
        `cust`,
        `cust_id`,
        `name`,
        `t1`.`__st_weight`
      FROM `__st_net_2` AS `t1`
      JOIN (
        SELECT
          `id`,
          `cust`
        FROM `before`.`orders`
      ) AS `t2`
        ON `cust` = `cust_id`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `name`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, name string
-- answer
SELECT
  `id`,
  `name`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `name`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `cust`,
      `cust_id`,
      `name`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `id`,
        `cust`,
        `cust_id`,
        `name`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `id`,
          `cust`,
          `__st_weight`
        FROM `__st_changes_orders`
      ) AS `t1`
      JOIN (
        SELECT
          `cust_id`,
          `name`
        FROM `__st_after_customers`
      ) AS `t2`
        ON `cust` = `cust_id`
    ) AS `t1`
  ) AS `t`
  UNION ALL
  SELECT
    `id`,
    `name`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `cust`,
      `cust_id`,
      `name`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `cust_id`,
        `name`,
        `id`,
        `cust`,
        `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
      FROM (
        SELECT
          `cust_id`,
          `name`,
          `__st_weight`
        FROM `__st_changes_customers`
      ) AS `t1`
      JOIN (
        SELECT
          `id`,
          `cust`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `cust`
          FROM `__st_after_orders`
        ) AS `t`
        UNION ALL
        SELECT
          `id`,
          `cust`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `cust`,
            `__st_weight`
          FROM `__st_changes_orders`
        ) AS `t`
      ) AS `t2`
        ON `cust` = `cust_id`
    ) AS `t1`
  ) AS `t`
) AS `t`
-- found: __st_old_1_1_orders(id, cust) where cust in (__st_changes_customers.cust_id)
-- found: __st_found_1_1_customers(cust_id, name) where cust_id in (__st_changes_orders.cust)
