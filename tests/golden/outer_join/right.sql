-- title: a right join is a left join with its sides swapped
-- sources: orders(id int, customer int) key id; customers(id int, name string) key id
SELECT o.id, c.name FROM orders AS o RIGHT JOIN customers AS c ON o.customer = c.id
---- plan
Project id, name, id_2 as __st_key_id_2  [linear]
  LeftJoin id_2 = customer  [keyed]
    Scan customers (id as id_2, name)  [linear]
    Scan orders (id, customer)  [linear]
---- delta plan
Net
  Project id, name  [linear]
    Net
      Sum
        LeftJoin id_2 = customer  [keyed]
          Scan changes.customers (id as id_2, name)  [linear]
          Restrict customer <=> key customer (#1)
            Scan after.orders (id, customer)  [linear]
            Keys customer (#2)
              Sum
                Project id_2 as customer  [linear]
                  Scan changes.customers (id as id_2, name)  [linear]
                Project id_2 as customer  [linear]
                  Restrict id_2 <=> key customer (#3)
                    Scan before.customers (id as id_2, name)  [linear]
                    Keys customer
                      Scan changes.orders (id, customer)  [linear]
        LeftJoin id_2 = customer  [keyed]
          #3
          #1
        Negate
          LeftJoin id_2 = customer  [keyed]
            #3
            Restrict customer <=> key customer
              Scan before.orders (id, customer)  [linear]
              #2
---- delta sql (spark)
WITH `__st_keys_1` AS (
  SELECT DISTINCT
    `customer`
  FROM (
    SELECT
      `id`,
      `customer`,
      `__st_weight`
    FROM `changes`.`orders`
  ) AS `t`
  WHERE
    NOT `customer` IS NULL
), `__st_step_1` AS (
  SELECT
    `t`.`id_2`,
    `t`.`name`
  FROM (
    SELECT
      `id` AS `id_2`,
      `name`
    FROM `before`.`customers`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`id_2` = `k`.`customer`
), `__st_keys_2` AS (
  SELECT DISTINCT
    `customer`
  FROM (
    SELECT
      `id_2` AS `customer`,
      `__st_weight`
    FROM (
      SELECT
        `id` AS `id_2`,
        `name`,
        `__st_weight`
      FROM `changes`.`customers`
    ) AS `t`
    UNION ALL
    SELECT
      `customer`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id_2` AS `customer`
      FROM `__st_step_1` AS `t`
    ) AS `t`
  ) AS `t`
  WHERE
    NOT `customer` IS NULL
), `__st_step_2` AS (
  SELECT
    `t`.`id`,
    `t`.`customer`
  FROM (
    SELECT
      `id`,
      `customer`
    FROM `after`.`orders`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_2` AS `k`
    ON `t`.`customer` = `k`.`customer`
), `__st_net_1` AS (
  SELECT
    `id_2`,
    `name`,
    `id`,
    `customer`,
    `__st_weight`
  FROM (
    SELECT
      `id_2`,
      `name`,
      `id`,
      `customer`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `l`.`id_2`,
        `l`.`name`,
        `r`.`id`,
        `r`.`customer`,
        `l`.`__st_weight`
      FROM (
        SELECT
          `id` AS `id_2`,
          `name`,
          `__st_weight`
        FROM `changes`.`customers`
      ) AS `l`
      LEFT JOIN `__st_step_2` AS `r`
        ON `id_2` = `customer`
      UNION ALL
      SELECT
        `id_2`,
        `name`,
        `id`,
        `customer`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id_2`,
          `l`.`name`,
          `r`.`id`,
          `r`.`customer`
        FROM `__st_step_1` AS `l`
        LEFT JOIN `__st_step_2` AS `r`
          ON `id_2` = `customer`
      ) AS `t`
      UNION ALL
      SELECT
        `id_2`,
        `name`,
        `id`,
        `customer`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id_2`,
          `l`.`name`,
          `r`.`id`,
          `r`.`customer`
        FROM `__st_step_1` AS `l`
        LEFT JOIN (
          SELECT
            `t`.`id`,
            `t`.`customer`
          FROM (
            SELECT
              `id`,
              `customer`
            FROM `before`.`orders`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`customer` = `k`.`customer`
        ) AS `r`
          ON `id_2` = `customer`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id_2`,
      `name`,
      `id`,
      `customer`
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
    FROM `__st_net_1` AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `name`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, name string, __st_key_id_2 int
-- step __st_terms_1
WITH `__st_keys_1` AS (
  SELECT
    `customer`
  FROM (
    SELECT
      `id`,
      `customer`,
      `__st_weight`
    FROM `__st_changes_orders`
  ) AS `t`
  WHERE
    NOT `customer` IS NULL
)
SELECT
  `id_2`,
  `name`,
  CAST(1 AS BIGINT) AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`id_2`,
    `t`.`name`
  FROM (
    SELECT
      `id` AS `id_2`,
      `name`
    FROM `__st_after_customers`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`id_2` = `k`.`customer`
) AS `t`
UNION ALL
SELECT
  `id_2`,
  `name`,
  -`__st_weight` AS `__st_weight`
FROM (
  SELECT /*+ BROADCAST(`k`) */
    `t`.`id_2`,
    `t`.`name`,
    `t`.`__st_weight`
  FROM (
    SELECT
      `id` AS `id_2`,
      `name`,
      `__st_weight`
    FROM `__st_changes_customers`
  ) AS `t`
  LEFT SEMI JOIN `__st_keys_1` AS `k`
    ON `t`.`id_2` = `k`.`customer`
) AS `t`
-- step __st_step_1
WITH `__st_keys_2` AS (
  SELECT
    `customer`
  FROM (
    SELECT
      `id_2` AS `customer`,
      `__st_weight`
    FROM (
      SELECT
        `id` AS `id_2`,
        `name`,
        `__st_weight`
      FROM `__st_changes_customers`
    ) AS `t`
    UNION ALL
    SELECT
      `id_2` AS `customer`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `customer` IS NULL
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`id`,
  `t`.`customer`
FROM (
  SELECT
    `id`,
    `customer`
  FROM `__st_after_orders`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`customer` = `k`.`customer`
-- answer
WITH `__st_keys_2` AS (
  SELECT
    `customer`
  FROM (
    SELECT
      `id_2` AS `customer`,
      `__st_weight`
    FROM (
      SELECT
        `id` AS `id_2`,
        `name`,
        `__st_weight`
      FROM `__st_changes_customers`
    ) AS `t`
    UNION ALL
    SELECT
      `id_2` AS `customer`,
      `__st_weight`
    FROM `__st_terms_1` AS `t`
  ) AS `t`
  WHERE
    NOT `customer` IS NULL
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
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_1` AS `t`
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
        LEFT SEMI JOIN `__st_keys_2` AS `k`
          ON `t`.`customer` = `k`.`customer`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `customer`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `id_2`,
    `name`,
    `id`,
    `__st_weight`
  FROM (
    SELECT
      `id_2`,
      `name`,
      `id`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id_2`,
        `name`,
        `id`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id_2`,
          `l`.`name`,
          `r`.`id`,
          `r`.`customer`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id` AS `id_2`,
            `name`,
            `__st_weight`
          FROM `__st_changes_customers`
        ) AS `l`
        LEFT JOIN `__st_step_1` AS `r`
          ON `id_2` = `customer`
      ) AS `t`
      UNION ALL
      SELECT
        `id_2`,
        `name`,
        `id`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`r`) */
          `l`.`id_2`,
          `l`.`name`,
          `r`.`id`,
          `r`.`customer`,
          `l`.`__st_weight`
        FROM `__st_terms_1` AS `l`
        LEFT JOIN `__st_step_1` AS `r`
          ON `id_2` = `customer`
      ) AS `t`
      UNION ALL
      SELECT
        `id_2`,
        `name`,
        `id`,
        `__st_weight`
      FROM (
        SELECT
          `id_2`,
          `name`,
          `id`,
          `customer`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`r`) */
            `l`.`id_2`,
            `l`.`name`,
            `r`.`id`,
            `r`.`customer`,
            `l`.`__st_weight`
          FROM `__st_terms_1` AS `l`
          LEFT JOIN (
            SELECT
              `id`,
              `customer`
            FROM (
              SELECT
                `id`,
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
          ) AS `r`
            ON `id_2` = `customer`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id_2`,
      `name`,
      `id`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `name`,
  `id_2` AS `__st_key_id_2`,
  `__st_weight`
FROM `__st_net_2` AS `t`
-- found: __st_old_1_1_orders(id, customer) where customer in (__st_changes_customers.id, __st_changes_orders.customer)
-- found: __st_found_1_1_orders(id, customer) where customer in (__st_changes_customers.id, __st_changes_orders.customer)
-- found: __st_old_1_1_customers(id, name) where id in (__st_changes_orders.customer)
