-- title: the first two rows of each key, by row_number and a limit on it
-- sources: orders(id int, customer int, amount bigint) key id
SELECT customer, id, amount FROM orders QUALIFY row_number() OVER (PARTITION BY customer ORDER BY amount DESC, id) <= 2
---- plan
Project customer, id, amount  [linear]
  Filter row_number <= 2  [linear]
    Window row_number() OVER (PARTITION BY customer ORDER BY amount DESC, id) as row_number  [keyed]
      Scan orders (id, customer, amount)  [linear]
---- delta plan
Net
  Project customer, id, amount  [linear]
    Net
      Filter row_number <= 2  [linear]
        Sum
          Window row_number() OVER (PARTITION BY customer ORDER BY amount DESC, id) as row_number  [keyed]
            Restrict customer <=> key customer
              Scan after.orders (id, customer, amount)  [linear]
              Keys customer (#1)
                Scan changes.orders (id, customer, amount)  [linear]
          Negate
            Window row_number() OVER (PARTITION BY customer ORDER BY amount DESC, id) as row_number  [keyed]
              Restrict customer <=> key customer
                Scan before.orders (id, customer, amount)  [linear]
                #1
---- delta sql (spark)
WITH `__st_keys_1` AS (
  SELECT DISTINCT
    `customer`
  FROM (
    SELECT
      `id`,
      `customer`,
      `amount`,
      `__st_weight`
    FROM `changes`.`orders`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `id`,
    `customer`,
    `amount`,
    `row_number`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `customer`,
      `amount`,
      `row_number`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `customer`,
        `amount`,
        `row_number`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `customer`,
          `amount`,
          `row_number`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `customer`,
            `amount`,
            row_number() OVER (PARTITION BY `customer` ORDER BY `amount` DESC, `id`) AS `row_number`
          FROM (
            SELECT
              `t`.`id`,
              `t`.`customer`,
              `t`.`amount`
            FROM (
              SELECT
                `id`,
                `customer`,
                `amount`
              FROM `after`.`orders`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer`
          ) AS `t`
        ) AS `t`
        UNION ALL
        SELECT
          `id`,
          `customer`,
          `amount`,
          `row_number`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `customer`,
            `amount`,
            row_number() OVER (PARTITION BY `customer` ORDER BY `amount` DESC, `id`) AS `row_number`
          FROM (
            SELECT
              `t`.`id`,
              `t`.`customer`,
              `t`.`amount`
            FROM (
              SELECT
                `id`,
                `customer`,
                `amount`
              FROM `before`.`orders`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer`
          ) AS `t`
        ) AS `t`
      ) AS `t`
      WHERE
        `row_number` <= 2
    ) AS `t`
    GROUP BY
      `id`,
      `customer`,
      `amount`,
      `row_number`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `customer`,
  `id`,
  `amount`,
  `__st_weight`
FROM (
  SELECT
    `customer`,
    `id`,
    `amount`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `customer`,
      `id`,
      `amount`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `customer`,
    `id`,
    `amount`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: customer int, id int, amount bigint
-- step __st_step_1
WITH `__st_keys_1` AS (
  SELECT
    `customer`
  FROM (
    SELECT
      `id`,
      `customer`,
      `amount`,
      `__st_weight`
    FROM `__st_changes_orders`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`id`,
  `t`.`customer`,
  `t`.`amount`
FROM (
  SELECT
    `id`,
    `customer`,
    `amount`
  FROM `__st_after_orders`
) AS `t`
LEFT SEMI JOIN `__st_keys_1` AS `k`
  ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer`
-- answer
WITH `__st_keys_1` AS (
  SELECT
    `customer`
  FROM (
    SELECT
      `id`,
      `customer`,
      `amount`,
      `__st_weight`
    FROM `__st_changes_orders`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `id`,
    `customer`,
    `amount`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `customer`,
      `amount`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `customer`,
        `amount`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_1` AS `t`
      UNION ALL
      SELECT
        `id`,
        `customer`,
        `amount`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`k`) */
          `t`.`id`,
          `t`.`customer`,
          `t`.`amount`,
          `t`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `customer`,
            `amount`,
            `__st_weight`
          FROM `__st_changes_orders`
        ) AS `t`
        LEFT SEMI JOIN `__st_keys_1` AS `k`
          ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `customer`,
      `amount`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `id`,
    `customer`,
    `amount`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `customer`,
      `amount`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `customer`,
        `amount`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `customer`,
          `amount`,
          `row_number`,
          `__st_weight`
        FROM (
          SELECT
            `id`,
            `customer`,
            `amount`,
            `row_number`,
            CAST(1 AS BIGINT) AS `__st_weight`
          FROM (
            SELECT
              `id`,
              `customer`,
              `amount`,
              row_number() OVER (PARTITION BY `customer` ORDER BY `amount` DESC, `id`) AS `row_number`
            FROM `__st_step_1` AS `t`
          ) AS `t`
          UNION ALL
          SELECT
            `id`,
            `customer`,
            `amount`,
            `row_number`,
            -CAST(1 AS BIGINT) AS `__st_weight`
          FROM (
            SELECT
              `id`,
              `customer`,
              `amount`,
              row_number() OVER (PARTITION BY `customer` ORDER BY `amount` DESC, `id`) AS `row_number`
            FROM (
              SELECT
                `id`,
                `customer`,
                `amount`
              FROM (
                SELECT
                  `id`,
                  `customer`,
                  `amount`,
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
            ) AS `t`
          ) AS `t`
        ) AS `t`
        WHERE
          `row_number` <= 2
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `customer`,
      `amount`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `customer`,
  `id`,
  `amount`,
  `__st_weight`
FROM `__st_net_2` AS `t`
-- found: __st_old_1_1_orders(id, customer, amount) where customer in (__st_changes_orders.customer)
-- found: __st_found_1_1_orders(id, customer, amount) where customer in (__st_changes_orders.customer)
