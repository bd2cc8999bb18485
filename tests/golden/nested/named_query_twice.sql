-- title: a named query that is used twice is computed once
-- sources: orders(id int, cust int, amount decimal(10,2)) key id
WITH totals AS (SELECT cust, sum(amount) AS total FROM orders GROUP BY cust)
SELECT x.cust, y.cust AS richer
FROM totals AS x
JOIN totals AS y ON x.total < y.total
---- plan
Project cust_3 as cust, cust_4 as richer  [linear]
  InnerJoin total_2 < total_3  [multilinear]
    Project cust_2 as cust_3, total as total_2  [linear]
      Project cust as cust_2, sum as total (#1)  [linear]
        Aggregate by cust: sum(amount) as sum  [keyed]
          Scan orders (cust, amount)  [linear]
    Project cust_2 as cust_4, total as total_3  [linear]
      #1
---- delta plan
Net
  Project cust_3 as cust, cust_4 as richer  [linear]
    Sum
      InnerJoin total_2 < total_3  [multilinear]
        Project cust_2 as cust_3, total as total_2  [linear]
          Project cust as cust_2, sum as total (#1)  [linear]
            Net
              Sum
                Aggregate by cust: sum(amount) as sum  [keyed]
                  Restrict cust <=> key cust
                    Scan after.orders (cust, amount)  [linear]
                    Keys cust (#2)
                      Net
                        Scan changes.orders (cust, amount)  [linear]
                Negate
                  Aggregate by cust: sum(amount) as sum  [keyed]
                    Restrict cust <=> key cust
                      Scan before.orders (cust, amount)  [linear]
                      #2
        Project cust_2 as cust_4, total as total_3  [linear]
          Project cust as cust_2, sum as total  [linear]
            Aggregate by cust: sum(amount) as sum  [keyed]
              Scan after.orders (cust, amount)  [linear]
      InnerJoin total_2 < total_3  [multilinear]
        Project cust_2 as cust_3, total as total_2  [linear]
          Project cust as cust_2, sum as total  [linear]
            Aggregate by cust: sum(amount) as sum  [keyed]
              Scan before.orders (cust, amount)  [linear]
        Project cust_2 as cust_4, total as total_3  [linear]
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
    GROUP BY
      `cust`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_step_1` AS (
  SELECT
    `cust` AS `cust_2`,
    `sum` AS `total`,
    `__st_weight`
  FROM `__st_net_2` AS `t`
)
SELECT
  `cust`,
  `richer`,
  `__st_weight`
FROM (
  SELECT
    `cust`,
    `richer`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `cust_3` AS `cust`,
      `cust_4` AS `richer`,
      `__st_weight`
    FROM (
      SELECT
        `cust_3`,
        `total_2`,
        `cust_4`,
        `total_3`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `cust_2` AS `cust_3`,
          `total` AS `total_2`,
          `__st_weight`
        FROM `__st_step_1` AS `t`
      ) AS `t1`
      JOIN (
        SELECT
          `cust_2` AS `cust_4`,
          `total` AS `total_3`
        FROM (
          SELECT
            `cust` AS `cust_2`,
            `sum` AS `total`
          FROM (
            SELECT
              `cust`,
              sum(`amount`) AS `sum`
            FROM (
              SELECT
                `cust`,
                `amount`
              FROM `after`.`orders`
            ) AS `t`
            GROUP BY
              `cust`
          ) AS `t`
        ) AS `t`
      ) AS `t2`
        ON `total_2` < `total_3`
      UNION ALL
      SELECT
        `cust_3`,
        `total_2`,
        `cust_4`,
        `total_3`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `cust_2` AS `cust_4`,
          `total` AS `total_3`,
          `__st_weight`
        FROM `__st_step_1` AS `t`
      ) AS `t1`
      JOIN (
        SELECT
          `cust_2` AS `cust_3`,
          `total` AS `total_2`
        FROM (
          SELECT
            `cust` AS `cust_2`,
            `sum` AS `total`
          FROM (
            SELECT
              `cust`,
              sum(`amount`) AS `sum`
            FROM (
              SELECT
                `cust`,
                `amount`
              FROM `before`.`orders`
            ) AS `t`
            GROUP BY
              `cust`
          ) AS `t`
        ) AS `t`
      ) AS `t2`
        ON `total_2` < `total_3`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `cust`,
    `richer`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: cust int, richer int
-- step __st_step_1
WITH `__st_keys_1` AS (
  SELECT
    `cust`
  FROM (
    SELECT
      `cust`,
      `amount`,
      `__st_weight`
    FROM `__st_changes_orders`
  ) AS `t`
)
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
-- step __st_step_2
WITH `__st_keys_1` AS (
  SELECT
    `cust`
  FROM (
    SELECT
      `cust`,
      `amount`,
      `__st_weight`
    FROM `__st_changes_orders`
  ) AS `t`
), `__st_net_1` AS (
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
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_1` AS `t`
      UNION ALL
      SELECT
        `cust`,
        `amount`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`k`) */
          `t`.`cust`,
          `t`.`amount`,
          `t`.`__st_weight`
        FROM (
          SELECT
            `cust`,
            `amount`,
            `__st_weight`
          FROM `__st_changes_orders`
        ) AS `t`
        LEFT SEMI JOIN `__st_keys_1` AS `k`
          ON `t`.`cust` IS NOT DISTINCT FROM `k`.`cust`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `cust`,
      `amount`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
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
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          sum(`amount`) AS `sum`
        FROM `__st_step_1` AS `t`
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
            `cust`,
            `amount`
          FROM (
            SELECT
              `cust`,
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
        GROUP BY
          `cust`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `cust`,
      `sum`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `cust` AS `cust_2`,
  `sum` AS `total`,
  `__st_weight`
FROM `__st_net_2` AS `t`
-- answer
WITH `__st_net_3` AS (
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
    ) AS `t`
    GROUP BY
      `cust`,
      `amount`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `cust`,
  `richer`,
  `__st_weight`
FROM (
  SELECT
    `cust`,
    `richer`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `cust_3` AS `cust`,
      `cust_4` AS `richer`,
      `__st_weight`
    FROM (
      SELECT
        `cust_3`,
        `cust_4`,
        `__st_weight`
      FROM (
        SELECT
          `cust_3`,
          `total_2`,
          `cust_4`,
          `total_3`,
          `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`t1`) */
            `cust_3`,
            `total_2`,
            `cust_4`,
            `total_3`,
            `t1`.`__st_weight`
          FROM (
            SELECT
              `cust_2` AS `cust_3`,
              `total` AS `total_2`,
              `__st_weight`
            FROM `__st_step_2` AS `t`
          ) AS `t1`
          JOIN (
            SELECT
              `cust_2` AS `cust_4`,
              `total` AS `total_3`
            FROM (
              SELECT
                `cust` AS `cust_2`,
                `sum` AS `total`
              FROM (
                SELECT
                  `cust`,
                  sum(`amount`) AS `sum`
                FROM (
                  SELECT
                    `cust`,
                    `amount`
                  FROM `__st_after_orders`
                ) AS `t`
                GROUP BY
                  `cust`
              ) AS `t`
            ) AS `t`
          ) AS `t2`
            ON `total_2` < `total_3`
        ) AS `t1`
      ) AS `t`
      UNION ALL
      SELECT
        `cust_3`,
        `cust_4`,
        `__st_weight`
      FROM (
        SELECT
          `cust_3`,
          `total_2`,
          `cust_4`,
          `total_3`,
          `__st_weight`
        FROM (
          SELECT /*+ BROADCAST(`t1`) */
            `cust_4`,
            `total_3`,
            `cust_3`,
            `total_2`,
            `t1`.`__st_weight`
          FROM (
            SELECT
              `cust_2` AS `cust_4`,
              `total` AS `total_3`,
              `__st_weight`
            FROM `__st_step_2` AS `t`
          ) AS `t1`
          JOIN (
            SELECT
              `cust_2` AS `cust_3`,
              `total` AS `total_2`
            FROM (
              SELECT
                `cust` AS `cust_2`,
                `sum` AS `total`
              FROM (
                SELECT
                  `cust`,
                  sum(`amount`) AS `sum`
                FROM (
                  SELECT
                    `cust`,
                    `amount`
                  FROM (
                    SELECT
                      `cust`,
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
                    FROM `__st_net_3` AS `t`
                    WHERE
                      `__st_weight` <> 0
                  ) AS `s`
                ) AS `t`
                GROUP BY
                  `cust`
              ) AS `t`
            ) AS `t`
          ) AS `t2`
            ON `total_2` < `total_3`
        ) AS `t1`
      ) AS `t`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `cust`,
    `richer`
) AS `s`
WHERE
  `__st_weight` <> 0
-- found: __st_old_1_1_orders(cust, amount) where cust in (__st_changes_orders.cust)
-- found: __st_found_1_1_orders(cust, amount) where cust in (__st_changes_orders.cust)
