-- title: a filter and a projection; the key stays as a hidden column
-- sources: orders(id int, cust int, amount decimal(10,2)) key id
SELECT amount * 2 AS twice
FROM orders
WHERE amount > 10
---- plan
Project amount * 2 as twice, id as __st_key_id  [linear]
  Filter amount > 10  [linear]
    Scan orders (id, amount)  [linear]
---- delta plan
Net
  Project amount * 2 as twice  [linear]
    Net
      Filter amount > 10  [linear]
        Scan changes.orders (amount)  [linear]
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `amount`,
    `__st_weight`
  FROM (
    SELECT
      `amount`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `amount`,
        `__st_weight`
      FROM `changes`.`orders`
      WHERE
        `amount` > 10
    ) AS `t`
    GROUP BY
      `amount`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `twice`,
  `__st_weight`
FROM (
  SELECT
    `twice`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `amount` * 2 AS `twice`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `twice`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: twice decimal(12,2), __st_key_id int
-- answer
SELECT
  `amount` * 2 AS `twice`,
  `id` AS `__st_key_id`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `amount`,
    `__st_weight`
  FROM `__st_changes_orders`
  WHERE
    `amount` > 10
) AS `t`
