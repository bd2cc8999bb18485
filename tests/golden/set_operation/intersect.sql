-- title: INTERSECT counts both sides apart, by value
-- sources: orders(id int, customer int) key id; payments(id int, customer int) key id
SELECT customer FROM orders INTERSECT SELECT customer FROM payments
---- plan
Project customer_5 as customer  [linear]
  Filter on_left > 0 AND on_right > 0  [linear]
    Aggregate by customer_5: sum(left) as on_left, sum(right) as on_right  [keyed]
      UnionAll  [linear]
        Project customer_5, 1 as left, 0 as right  [linear]
          Project customer as customer_5  [linear]
            Scan orders (customer)  [linear]
        Project customer_5, 0 as left, 1 as right  [linear]
          Project customer_3 as customer_5  [linear]
            Scan payments (customer as customer_3)  [linear]
---- delta plan
Net
  Project customer_5 as customer  [linear]
    Net
      Filter on_left > 0 AND on_right > 0  [linear]
        Sum
          Aggregate by customer_5: sum(left) as on_left, sum(right) as on_right  [keyed]
            UnionAll  [linear]
              Project customer_5, 1 as left, 0 as right  [linear]
                Project customer as customer_5  [linear]
                  Restrict customer <=> key customer_5
                    Scan after.orders (customer)  [linear]
                    Keys customer_5 (#1)
                      UnionAll  [linear]
                        Project customer_5, 1 as left, 0 as right  [linear]
                          Project customer as customer_5  [linear]
                            Net
                              Scan changes.orders (customer)  [linear]
                        Project customer_5, 0 as left, 1 as right  [linear]
                          Project customer_3 as customer_5  [linear]
                            Net
                              Scan changes.payments (customer as customer_3)  [linear]
              Project customer_5, 0 as left, 1 as right  [linear]
                Project customer_3 as customer_5  [linear]
                  Restrict customer_3 <=> key customer_5
                    Scan after.payments (customer as customer_3)  [linear]
                    #1
          Negate
            Aggregate by customer_5: sum(left) as on_left, sum(right) as on_right  [keyed]
              UnionAll  [linear]
                Project customer_5, 1 as left, 0 as right  [linear]
                  Project customer as customer_5  [linear]
                    Restrict customer <=> key customer_5
                      Scan before.orders (customer)  [linear]
                      #1
                Project customer_5, 0 as left, 1 as right  [linear]
                  Project customer_3 as customer_5  [linear]
                    Restrict customer_3 <=> key customer_5
                      Scan before.payments (customer as customer_3)  [linear]
                      #1
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `customer`,
    `__st_weight`
  FROM (
    SELECT
      `customer`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `customer`,
        `__st_weight`
      FROM `changes`.`orders`
    ) AS `t`
    GROUP BY
      `customer`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `customer_3`,
    `__st_weight`
  FROM (
    SELECT
      `customer_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `customer` AS `customer_3`,
        `__st_weight`
      FROM `changes`.`payments`
    ) AS `t`
    GROUP BY
      `customer_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `customer_5`
  FROM (
    SELECT
      `customer_5`,
      1 AS `left`,
      0 AS `right`,
      `__st_weight`
    FROM (
      SELECT
        `customer` AS `customer_5`,
        `__st_weight`
      FROM `__st_net_1` AS `t`
    ) AS `t`
    UNION ALL
    SELECT
      `customer_5`,
      0 AS `left`,
      1 AS `right`,
      `__st_weight`
    FROM (
      SELECT
        `customer_3` AS `customer_5`,
        `__st_weight`
      FROM `__st_net_2` AS `t`
    ) AS `t`
  ) AS `t`
), `__st_net_3` AS (
  SELECT
    `customer_5`,
    `on_left`,
    `on_right`,
    `__st_weight`
  FROM (
    SELECT
      `customer_5`,
      `on_left`,
      `on_right`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `customer_5`,
        `on_left`,
        `on_right`,
        `__st_weight`
      FROM (
        SELECT
          `customer_5`,
          `on_left`,
          `on_right`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `customer_5`,
            sum(`left`) AS `on_left`,
            sum(`right`) AS `on_right`
          FROM (
            SELECT
              `customer_5`,
              1 AS `left`,
              0 AS `right`
            FROM (
              SELECT
                `customer` AS `customer_5`
              FROM (
                SELECT
                  `t`.`customer`
                FROM (
                  SELECT
                    `customer`
                  FROM `after`.`orders`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_1` AS `k`
                  ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer_5`
              ) AS `t`
            ) AS `t`
            UNION ALL
            SELECT
              `customer_5`,
              0 AS `left`,
              1 AS `right`
            FROM (
              SELECT
                `customer_3` AS `customer_5`
              FROM (
                SELECT
                  `t`.`customer_3`
                FROM (
                  SELECT
                    `customer` AS `customer_3`
                  FROM `after`.`payments`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_1` AS `k`
                  ON `t`.`customer_3` IS NOT DISTINCT FROM `k`.`customer_5`
              ) AS `t`
            ) AS `t`
          ) AS `t`
          GROUP BY
            `customer_5`
        ) AS `t`
        UNION ALL
        SELECT
          `customer_5`,
          `on_left`,
          `on_right`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `customer_5`,
            sum(`left`) AS `on_left`,
            sum(`right`) AS `on_right`
          FROM (
            SELECT
              `customer_5`,
              1 AS `left`,
              0 AS `right`
            FROM (
              SELECT
                `customer` AS `customer_5`
              FROM (
                SELECT
                  `t`.`customer`
                FROM (
                  SELECT
                    `customer`
                  FROM `before`.`orders`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_1` AS `k`
                  ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer_5`
              ) AS `t`
            ) AS `t`
            UNION ALL
            SELECT
              `customer_5`,
              0 AS `left`,
              1 AS `right`
            FROM (
              SELECT
                `customer_3` AS `customer_5`
              FROM (
                SELECT
                  `t`.`customer_3`
                FROM (
                  SELECT
                    `customer` AS `customer_3`
                  FROM `before`.`payments`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_1` AS `k`
                  ON `t`.`customer_3` IS NOT DISTINCT FROM `k`.`customer_5`
              ) AS `t`
            ) AS `t`
          ) AS `t`
          GROUP BY
            `customer_5`
        ) AS `t`
      ) AS `t`
      WHERE
        `on_left` > 0 AND `on_right` > 0
    ) AS `t`
    GROUP BY
      `customer_5`,
      `on_left`,
      `on_right`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `customer`,
  `__st_weight`
FROM (
  SELECT
    `customer`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `customer_5` AS `customer`,
      `__st_weight`
    FROM `__st_net_3` AS `t`
  ) AS `t`
  GROUP BY
    `customer`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- touched-groups: groups that changed are computed again: a condition hides some groups, whose state is not stored
-- stored: customer int
-- step __st_keys_1
SELECT DISTINCT
  `customer_5`
FROM (
  SELECT
    `customer_5`,
    `__st_weight`
  FROM (
    SELECT
      `customer` AS `customer_5`,
      `__st_weight`
    FROM (
      SELECT
        `customer`,
        `__st_weight`
      FROM `__st_changes_orders`
    ) AS `t`
  ) AS `t`
  UNION ALL
  SELECT
    `customer_5`,
    `__st_weight`
  FROM (
    SELECT
      `customer_3` AS `customer_5`,
      `__st_weight`
    FROM (
      SELECT
        `customer` AS `customer_3`,
        `__st_weight`
      FROM `__st_changes_payments`
    ) AS `t`
  ) AS `t`
) AS `t`
-- answer
SELECT
  `customer_5` AS `customer`
FROM (
  SELECT
    `customer_5`,
    `on_left`,
    `on_right`
  FROM (
    SELECT
      `customer_5`,
      sum(`left`) AS `on_left`,
      sum(`right`) AS `on_right`
    FROM (
      SELECT
        `customer_5`,
        1 AS `left`,
        0 AS `right`
      FROM (
        SELECT
          `customer` AS `customer_5`
        FROM (
          SELECT /*+ BROADCAST(`k`) */
            `t`.`customer`
          FROM (
            SELECT
              `customer`
            FROM `__st_after_orders`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer_5`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `customer_5`,
        0 AS `left`,
        1 AS `right`
      FROM (
        SELECT
          `customer_3` AS `customer_5`
        FROM (
          SELECT /*+ BROADCAST(`k`) */
            `t`.`customer_3`
          FROM (
            SELECT
              `customer` AS `customer_3`
            FROM `__st_after_payments`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`customer_3` IS NOT DISTINCT FROM `k`.`customer_5`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `customer_5`
  ) AS `t`
  WHERE
    `on_left` > 0 AND `on_right` > 0
) AS `t`
-- found: __st_found_1_1_payments(customer) where customer in (__st_changes_orders.customer, __st_changes_payments.customer)
-- found: __st_found_1_1_orders(customer) where customer in (__st_changes_orders.customer, __st_changes_payments.customer)
