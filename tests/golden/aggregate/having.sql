-- title: HAVING is a filter above the aggregate
-- sources: orders(id int, cust int, amount decimal(10,2)) key id
SELECT cust, sum(amount) AS total
FROM orders
GROUP BY cust
HAVING sum(amount) > 10
---- plan
Project cust, sum as total  [linear]
  Filter sum > 10  [linear]
    Aggregate by cust: sum(amount) as sum  [keyed]
      Scan orders (cust, amount)  [linear]
---- delta plan
Net
  Project cust, sum as total  [linear]
    Net
      Filter sum > 10  [linear]
        Sum
          Aggregate by cust: sum(amount) as sum  [keyed]
            Restrict cust <=> key cust
              Scan after.orders (cust, amount)  [linear]
              Keys cust (#1)
                Net
                  Scan changes.orders (cust, amount)  [linear]
          Negate
            Aggregate by cust: sum(amount) as sum  [keyed]
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
    `sum`,
    `__st_weight`
  FROM (
    SELECT
      `cust`,
      `sum`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `cust`,
        `sum`,
        `__st_weight`
      FROM (
        SELECT
          `cust`,
          `sum`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `cust`,
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
          `sum`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `cust`,
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
      WHERE
        `sum` > 10
    ) AS `t`
    GROUP BY
      `cust`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `cust`,
  `total`,
  `__st_weight`
FROM (
  SELECT
    `cust`,
    `total`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `cust`,
      `sum` AS `total`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `cust`,
    `total`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- touched-groups: groups that changed are computed again: a condition hides some groups, whose state is not stored
-- stored: cust int, total decimal(20,2)
-- step __st_keys_1
SELECT DISTINCT
  `cust`
FROM (
  SELECT
    `cust`,
    `__st_weight`
  FROM `__st_changes_orders`
) AS `t`
-- answer
SELECT
  `cust`,
  `sum` AS `total`
FROM (
  SELECT
    `cust`,
    `sum`
  FROM (
    SELECT
      `cust`,
      sum(`amount`) AS `sum`
    FROM (
      SELECT /*+ BROADCAST(`k`) */
        `t`.`cust`,
        `t`.`amount`
      FROM (
        SELECT
          `cust`,
          `amount`
        FROM `__st_after_orders`
      ) AS `t`
      LEFT SEMI JOIN `__st_keys_1` AS `k`
        ON `t`.`cust` IS NOT DISTINCT FROM `k`.`cust`
    ) AS `t`
    GROUP BY
      `cust`
  ) AS `t`
  WHERE
    `sum` > 10
) AS `t`
-- found: __st_found_1_1_orders(cust, amount) where cust in (__st_changes_orders.cust)
