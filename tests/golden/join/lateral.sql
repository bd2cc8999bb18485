-- title: a lateral join: the largest order of each customer
-- sources: customers(id int, name string) key id; orders(id int, customer int, amount bigint) key id
SELECT c.name, o.amount FROM customers AS c JOIN LATERAL (SELECT amount FROM orders WHERE customer = c.id ORDER BY amount DESC LIMIT 1) AS o
---- plan
Project name, amount_2 as amount  [linear]
  InnerJoin customer = id  [multilinear]
    Scan customers (id, name)  [linear]
    Project amount_2, customer  [linear]
      TopK by customer first 1 after 0 in order amount_2 DESC, id_2 ASC  [keyed]
        Project amount as amount_2, id_2, customer  [linear]
          Scan orders (id as id_2, customer, amount)  [linear]
---- delta plan
Net
  Project name, amount_2 as amount  [linear]
    Sum
      InnerJoin customer = id  [multilinear]
        Scan changes.customers (id, name)  [linear]
        Project amount_2, customer  [linear]
          TopK by customer first 1 after 0 in order amount_2 DESC, id_2 ASC  [keyed]
            Project amount as amount_2, id_2, customer  [linear]
              Restrict customer <=> key id
                Scan after.orders (id as id_2, customer, amount)  [linear]
                Keys id
                  Scan changes.customers (id, name)  [linear]
      InnerJoin customer = id  [multilinear]
        Scan before.customers (id, name)  [linear]
        Project amount_2, customer  [linear]
          Net
            Sum
              TopK by customer first 1 after 0 in order amount_2 DESC, id_2 ASC  [keyed]
                Project amount as amount_2, id_2, customer  [linear]
                  Restrict customer <=> key customer
                    Scan after.orders (id as id_2, customer, amount)  [linear]
                    Keys customer (#1)
                      Project amount as amount_2, id_2, customer  [linear]
                        Scan changes.orders (id as id_2, customer, amount)  [linear]
              Negate
                TopK by customer first 1 after 0 in order amount_2 DESC, id_2 ASC  [keyed]
                  Project amount as amount_2, id_2, customer  [linear]
                    Restrict customer <=> key customer
                      Scan before.orders (id as id_2, customer, amount)  [linear]
                      #1
---- delta sql (spark)
WITH `__st_keys_1` AS (
  SELECT DISTINCT
    `id`
  FROM (
    SELECT
      `id`,
      `name`,
      `__st_weight`
    FROM `changes`.`customers`
  ) AS `t`
  WHERE
    NOT `id` IS NULL
), `__st_keys_2` AS (
  SELECT DISTINCT
    `customer`
  FROM (
    SELECT
      `amount` AS `amount_2`,
      `id_2`,
      `customer`,
      `__st_weight`
    FROM (
      SELECT
        `id` AS `id_2`,
        `customer`,
        `amount`,
        `__st_weight`
      FROM `changes`.`orders`
    ) AS `t`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `amount_2`,
    `id_2`,
    `customer`,
    `__st_weight`
  FROM (
    SELECT
      `amount_2`,
      `id_2`,
      `customer`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `amount_2`,
        `id_2`,
        `customer`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `amount_2`,
          `id_2`,
          `customer`
        FROM (
          SELECT
            `amount_2`,
            `id_2`,
            `customer`,
            row_number() OVER (PARTITION BY `customer` ORDER BY `amount_2` DESC, `id_2` ASC) AS `__st_position_in_order`
          FROM (
            SELECT
              `amount` AS `amount_2`,
              `id_2`,
              `customer`
            FROM (
              SELECT
                `t`.`id_2`,
                `t`.`customer`,
                `t`.`amount`
              FROM (
                SELECT
                  `id` AS `id_2`,
                  `customer`,
                  `amount`
                FROM `after`.`orders`
              ) AS `t`
              LEFT SEMI JOIN `__st_keys_2` AS `k`
                ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer`
            ) AS `t`
          ) AS `t`
        ) AS `n`
        WHERE
          `__st_position_in_order` <= 1
      ) AS `t`
      UNION ALL
      SELECT
        `amount_2`,
        `id_2`,
        `customer`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `amount_2`,
          `id_2`,
          `customer`
        FROM (
          SELECT
            `amount_2`,
            `id_2`,
            `customer`,
            row_number() OVER (PARTITION BY `customer` ORDER BY `amount_2` DESC, `id_2` ASC) AS `__st_position_in_order`
          FROM (
            SELECT
              `amount` AS `amount_2`,
              `id_2`,
              `customer`
            FROM (
              SELECT
                `t`.`id_2`,
                `t`.`customer`,
                `t`.`amount`
              FROM (
                SELECT
                  `id` AS `id_2`,
                  `customer`,
                  `amount`
                FROM `before`.`orders`
              ) AS `t`
              LEFT SEMI JOIN `__st_keys_2` AS `k`
                ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer`
            ) AS `t`
          ) AS `t`
        ) AS `n`
        WHERE
          `__st_position_in_order` <= 1
      ) AS `t`
    ) AS `t`
    GROUP BY
      `amount_2`,
      `id_2`,
      `customer`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `name`,
  `amount`,
  `__st_weight`
FROM (
  SELECT
    `name`,
    `amount`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `name`,
      `amount_2` AS `amount`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `name`,
        `amount_2`,
        `customer`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `id`,
          `name`,
          `__st_weight`
        FROM `changes`.`customers`
      ) AS `t1`
      JOIN (
        SELECT
          `amount_2`,
          `customer`
        FROM (
          SELECT
            `amount_2`,
            `id_2`,
            `customer`
          FROM (
            SELECT
              `amount_2`,
              `id_2`,
              `customer`,
              row_number() OVER (PARTITION BY `customer` ORDER BY `amount_2` DESC, `id_2` ASC) AS `__st_position_in_order`
            FROM (
              SELECT
                `amount` AS `amount_2`,
                `id_2`,
                `customer`
              FROM (
                SELECT
                  `t`.`id_2`,
                  `t`.`customer`,
                  `t`.`amount`
                FROM (
                  SELECT
                    `id` AS `id_2`,
                    `customer`,
                    `amount`
                  FROM `after`.`orders`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_1` AS `k`
                  ON `t`.`customer` = `k`.`id`
              ) AS `t`
            ) AS `t`
          ) AS `n`
          WHERE
            `__st_position_in_order` <= 1
        ) AS `t`
      ) AS `t2`
        ON `customer` = `id`
      UNION ALL
      SELECT
        `id`,
        `name`,
        `amount_2`,
        `customer`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `amount_2`,
          `customer`,
          `__st_weight`
        FROM `__st_net_1` AS `t`
      ) AS `t1`
      JOIN (
        SELECT
          `id`,
          `name`
        FROM `before`.`customers`
      ) AS `t2`
        ON `customer` = `id`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `name`,
    `amount`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: name string, amount bigint
-- step __st_step_1
WITH `__st_keys_2` AS (
  SELECT
    `customer`
  FROM (
    SELECT
      `customer`,
      `__st_weight`
    FROM (
      SELECT
        `id` AS `id_2`,
        `customer`,
        `amount`,
        `__st_weight`
      FROM `__st_changes_orders`
    ) AS `t`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`id_2`,
  `t`.`customer`,
  `t`.`amount`
FROM (
  SELECT
    `id` AS `id_2`,
    `customer`,
    `amount`
  FROM `__st_after_orders`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer`
-- answer
WITH `__st_keys_1` AS (
  SELECT
    `id`
  FROM (
    SELECT
      `id`,
      `name`,
      `__st_weight`
    FROM `__st_changes_customers`
  ) AS `t`
  WHERE
    NOT `id` IS NULL
), `__st_keys_2` AS (
  SELECT
    `customer`
  FROM (
    SELECT
      `customer`,
      `__st_weight`
    FROM (
      SELECT
        `id` AS `id_2`,
        `customer`,
        `amount`,
        `__st_weight`
      FROM `__st_changes_orders`
    ) AS `t`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `amount_2`,
    `id_2`,
    `customer`,
    `__st_weight`
  FROM (
    SELECT
      `amount_2`,
      `id_2`,
      `customer`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `amount` AS `amount_2`,
        `id_2`,
        `customer`,
        `__st_weight`
      FROM (
        SELECT
          `id_2`,
          `customer`,
          `amount`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM `__st_step_1` AS `t`
        UNION ALL
        SELECT
          `id_2`,
          `customer`,
          `amount`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`k`) */
            `t`.`id_2`,
            `t`.`customer`,
            `t`.`amount`,
            `t`.`__st_weight`
          FROM (
            SELECT
              `id` AS `id_2`,
              `customer`,
              `amount`,
              `__st_weight`
            FROM `__st_changes_orders`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`customer` IS NOT DISTINCT FROM `k`.`customer`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `amount_2`,
      `id_2`,
      `customer`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `amount_2`,
    `customer`,
    `__st_weight`
  FROM (
    SELECT
      `amount_2`,
      `customer`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `amount_2`,
        `customer`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `amount_2`,
          `customer`
        FROM (
          SELECT
            `amount_2`,
            `id_2`,
            `customer`
          FROM (
            SELECT
              `amount_2`,
              `id_2`,
              `customer`,
              row_number() OVER (PARTITION BY `customer` ORDER BY `amount_2` DESC, `id_2` ASC) AS `__st_position_in_order`
            FROM (
              SELECT
                `amount` AS `amount_2`,
                `id_2`,
                `customer`
              FROM `__st_step_1` AS `t`
            ) AS `t`
          ) AS `n`
          WHERE
            `__st_position_in_order` <= 1
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `amount_2`,
        `customer`,
        `__st_weight`
      FROM (
        SELECT
          `amount_2`,
          `id_2`,
          `customer`,
          -CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `amount_2`,
            `id_2`,
            `customer`
          FROM (
            SELECT
              `amount_2`,
              `id_2`,
              `customer`,
              row_number() OVER (PARTITION BY `customer` ORDER BY `amount_2` DESC, `id_2` ASC) AS `__st_position_in_order`
            FROM (
              SELECT
                `amount_2`,
                `id_2`,
                `customer`
              FROM (
                SELECT
                  `amount_2`,
                  `id_2`,
                  `customer`,
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
          ) AS `n`
          WHERE
            `__st_position_in_order` <= 1
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `amount_2`,
      `customer`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `name`,
  `amount_2` AS `amount`,
  `__st_weight`
FROM (
  SELECT
    `name`,
    `amount_2`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `name`,
      `amount_2`,
      `customer`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `id`,
        `name`,
        `amount_2`,
        `customer`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `id`,
          `name`,
          `__st_weight`
        FROM `__st_changes_customers`
      ) AS `t1`
      JOIN (
        SELECT
          `amount_2`,
          `customer`
        FROM (
          SELECT
            `amount_2`,
            `id_2`,
            `customer`
          FROM (
            SELECT
              `amount_2`,
              `id_2`,
              `customer`,
              row_number() OVER (PARTITION BY `customer` ORDER BY `amount_2` DESC, `id_2` ASC) AS `__st_position_in_order`
            FROM (
              SELECT
                `amount` AS `amount_2`,
                `id_2`,
                `customer`
              FROM (
                SELECT /*+ BROADCAST(`k`) */
                  `t`.`id_2`,
                  `t`.`customer`,
                  `t`.`amount`
                FROM (
                  SELECT
                    `id` AS `id_2`,
                    `customer`,
                    `amount`
                  FROM `__st_after_orders`
                ) AS `t`
                LEFT SEMI JOIN `__st_keys_1` AS `k`
                  ON `t`.`customer` = `k`.`id`
              ) AS `t`
            ) AS `t`
          ) AS `n`
          WHERE
            `__st_position_in_order` <= 1
        ) AS `t`
      ) AS `t2`
        ON `customer` = `id`
    ) AS `t1`
  ) AS `t`
  UNION ALL
  SELECT
    `name`,
    `amount_2`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `name`,
      `amount_2`,
      `customer`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `amount_2`,
        `customer`,
        `id`,
        `name`,
        `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
      FROM (
        SELECT
          `amount_2`,
          `customer`,
          `__st_weight`
        FROM `__st_net_2` AS `t`
      ) AS `t1`
      JOIN (
        SELECT
          `id`,
          `name`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `name`
          FROM `__st_after_customers`
        ) AS `t`
        UNION ALL
        SELECT
          `id`,
          `name`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT
            `id`,
            `name`,
            `__st_weight`
          FROM `__st_changes_customers`
        ) AS `t`
      ) AS `t2`
        ON `customer` = `id`
    ) AS `t1`
  ) AS `t`
) AS `t`
-- found: __st_old_1_1_customers(id, name) where id in (__st_changes_orders.customer)
-- found: __st_old_1_2_orders(id, customer, amount) where customer in (__st_changes_orders.customer)
-- found: __st_found_1_2_orders(id, customer, amount) where customer in (__st_changes_orders.customer)
-- found: __st_found_1_1_orders(id, customer, amount) where customer in (__st_changes_customers.id)
