-- title: a semi join shows a left row once, whatever the number of partners
-- sources: orders(id int, customer int) key id; payments(customer int)
SELECT o.id FROM orders AS o LEFT SEMI JOIN payments AS p ON o.customer = p.customer
---- plan
Project id  [linear]
  Existence semi customer = customer_2  [keyed]
    Scan orders (id, customer)  [linear]
    Scan payments (customer as customer_2)  [linear]
---- delta plan
Net
  Project id  [linear]
    Net
      Sum
        Existence semi customer = customer_2  [keyed]
          Scan changes.orders (id, customer)  [linear]
          Restrict customer_2 <=> key customer_2 (#1)
            Scan after.payments (customer as customer_2)  [linear]
            Keys customer_2 (#2)
              Sum
                Project customer as customer_2  [linear]
                  Scan changes.orders (id, customer)  [linear]
                Project customer as customer_2  [linear]
                  Restrict customer <=> key customer_2 (#3)
                    Scan before.orders (id, customer)  [linear]
                    Keys customer_2
                      Scan changes.payments (customer as customer_2)  [linear]
        Existence semi customer = customer_2  [keyed]
          #3
          #1
        Negate
          Existence semi customer = customer_2  [keyed]
            #3
            Restrict customer_2 <=> key customer_2
              Scan before.payments (customer as customer_2)  [linear]
              #2
---- delta sql (spark)
WITH `__st_keys_1` AS (
  SELECT DISTINCT
    `customer_2`
  FROM (
    SELECT
      `customer` AS `customer_2`,
      `__st_weight`
    FROM `changes`.`payments`
  ) AS `t`
  WHERE
    NOT `customer_2` IS NULL
), `__st_step_1` AS (
  SELECT
    `t`.`id`,
    `t`.`customer`
  FROM (
    SELECT
      `id`,
      `customer`
    FROM `before`.`orders`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`customer` = `k`.`customer_2`
), `__st_keys_2` AS (
  SELECT DISTINCT
    `customer_2`
  FROM (
    SELECT
      `customer` AS `customer_2`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `customer`,
        `__st_weight`
      FROM `changes`.`orders`
    ) AS `t`
    UNION ALL
    SELECT
      `customer_2`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `customer` AS `customer_2`
      FROM `__st_step_1` AS `t`
    ) AS `t`
  ) AS `t`
  WHERE
    NOT `customer_2` IS NULL
), `__st_step_2` AS (
  SELECT
    `t`.`customer_2`
  FROM (
    SELECT
      `customer` AS `customer_2`
    FROM `after`.`payments`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_2` AS `k`
    ON `t`.`customer_2` = `k`.`customer_2`
), `__st_net_1` AS (
  SELECT
    `id`,
    `customer`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `customer`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `customer`,
        `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`customer`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `customer`,
            `__st_weight`
          FROM `changes`.`orders`
        ) AS `l`
        LEFT SEMI JOIN `__st_step_2` AS `r`
          ON `customer` = `customer_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `customer`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`customer`
        FROM `__st_step_1` AS `l`
        LEFT SEMI JOIN `__st_step_2` AS `r`
          ON `customer` = `customer_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `customer`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`customer`
        FROM `__st_step_1` AS `l`
        LEFT SEMI JOIN (
          SELECT
            `t`.`customer_2`
          FROM (
            SELECT
              `customer` AS `customer_2`
            FROM `before`.`payments`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`customer_2` = `k`.`customer_2`
        ) AS `r`
          ON `customer` = `customer_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `customer`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `id`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int
-- step __st_terms_1
WITH `__st_keys_1` AS (
  SELECT
    `customer_2`
  FROM (
    SELECT
      `customer` AS `customer_2`,
      `__st_weight`
    FROM `__st_changes_payments`
  ) AS `t`
  WHERE
    NOT `customer_2` IS NULL
)
SELECT
  `id`,
  `customer`,
  CAST(1 AS BIGINT) AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`id`,
    `t`.`customer`
  FROM (
    SELECT
      `id`,
      `customer`
    FROM `__st_after_orders`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`customer` = `k`.`customer_2`
) AS `t`
UNION ALL
SELECT
  `id`,
  `customer`,
  -`__st_weight` AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`id`,
    `t`.`customer`,
    `t`.`__st_weight`
  FROM (
    SELECT
      `id`,
      `customer`,
      `__st_weight`
    FROM `__st_changes_orders`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`customer` = `k`.`customer_2`
) AS `t`
-- step __st_step_1
WITH `__st_keys_2` AS (
  SELECT
    `customer_2`
  FROM (
    SELECT
      `customer` AS `customer_2`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `customer`,
        `__st_weight`
      FROM `__st_changes_orders`
    ) AS `t`
    UNION ALL
    SELECT
      `customer` AS `customer_2`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `customer_2` IS NULL
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`customer_2`
FROM (
  SELECT
    `customer` AS `customer_2`
  FROM `__st_after_payments`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`customer_2` = `k`.`customer_2`
-- answer
WITH `__st_keys_2` AS (
  SELECT
    `customer_2`
  FROM (
    SELECT
      `customer` AS `customer_2`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `customer`,
        `__st_weight`
      FROM `__st_changes_orders`
    ) AS `t`
    UNION ALL
    SELECT
      `customer` AS `customer_2`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `customer_2` IS NULL
), `__st_net_1` AS (
  SELECT
    `customer_2`,
    `__st_weight`
  FROM (
    SELECT
      `customer_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `customer_2`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_1` AS `t`
      UNION ALL
      SELECT
        `customer_2`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`k`) */
          `t`.`customer_2`,
          `t`.`__st_weight`
        FROM (
          SELECT
            `customer` AS `customer_2`,
            `__st_weight`
          FROM `__st_changes_payments`
        ) AS `t`
        LEFT SEMI JOIN `__st_keys_2` AS `k`
          ON `t`.`customer_2` = `k`.`customer_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `customer_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `id`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`customer`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `customer`,
            `__st_weight`
          FROM `__st_changes_orders`
        ) AS `l`
        LEFT SEMI JOIN `__st_step_1` AS `r`
          ON `customer` = `customer_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id`,
          `l`.`customer`,
          `l`.`__st_weight`
        FROM `__st_terms_1` AS `l`
        LEFT SEMI JOIN `__st_step_1` AS `r`
          ON `customer` = `customer_2`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `customer`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`r`) */
            `l`.`id`,
            `l`.`customer`,
            `l`.`__st_weight`
          FROM `__st_terms_1` AS `l`
          LEFT SEMI JOIN (
            SELECT
              `customer_2`
            FROM (
              SELECT
                `customer_2`,
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
          ) AS `r`
            ON `customer` = `customer_2`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `__st_weight`
FROM `__st_net_2` AS `t`
-- found: __st_old_1_1_payments(customer) where customer in (__st_changes_orders.customer, __st_changes_payments.customer)
-- found: __st_found_1_1_payments(customer) where customer in (__st_changes_orders.customer, __st_changes_payments.customer)
-- found: __st_old_1_1_orders(id, customer) where customer in (__st_changes_payments.customer)
