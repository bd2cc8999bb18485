-- title: MIN and MAX improve, and lost groups are looked at again
-- sources: orders(id int, cust int, amount decimal(10,2)) key id
SELECT cust, min(amount) AS low, max(amount) AS high
FROM orders
GROUP BY cust
---- plan
Project cust, min as low, max as high  [linear]
  Aggregate by cust: min(amount) as min, max(amount) as max  [keyed]
    Scan orders (cust, amount)  [linear]
---- delta plan
Net
  Project cust, min as low, max as high  [linear]
    Net
      Sum
        Aggregate by cust: min(amount) as min, max(amount) as max  [keyed]
          Restrict cust <=> key cust
            Scan after.orders (cust, amount)  [linear]
            Keys cust (#1)
              Net
                Scan changes.orders (cust, amount)  [linear]
        Negate
          Aggregate by cust: min(amount) as min, max(amount) as max  [keyed]
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
    `min`,
    `max`,
    `__st_weight`
  FROM (
    SELECT
      `cust`,
      `min`,
      `max`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `cust`,
        `min`,
        `max`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          min(`amount`) AS `min`,
          max(`amount`) AS `max`
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
        `min`,
        `max`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          min(`amount`) AS `min`,
          max(`amount`) AS `max`
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
      `min`,
      `max`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `cust`,
  `low`,
  `high`,
  `__st_weight`
FROM (
  SELECT
    `cust`,
    `low`,
    `high`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `cust`,
      `min` AS `low`,
      `max` AS `high`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `cust`,
    `low`,
    `high`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- stored-state: sums and counts add up, least and greatest values improve; groups whose state does not tell them any more are computed again, and all touched groups when a change is too large for the driver
-- stored: cust int, low decimal(10,2), high decimal(10,2), __st_rows bigint, __st_min_2 decimal(10,2), __st_count_1 bigint, __st_max_3 decimal(10,2)
-- answer
SELECT
  `cust`,
  CAST(coalesce(`__st_rows`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_rows`,
  `__st_min_2_plus`,
  `__st_min_2_minus`,
  CAST(coalesce(`__st_count_1`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_1`,
  `__st_max_3_plus`,
  `__st_max_3_minus`
FROM (
  SELECT
    `cust`,
    sum(`__st_weight`) AS `__st_rows`,
    min(`amount`) FILTER(WHERE
      `__st_weight` > 0) AS `__st_min_2_plus`,
    min(`amount`) FILTER(WHERE
      `__st_weight` < 0) AS `__st_min_2_minus`,
    sum(`__st_weight`) FILTER(WHERE
      NOT (
        `amount`
      ) IS NULL) AS `__st_count_1`,
    max(`amount`) FILTER(WHERE
      `__st_weight` > 0) AS `__st_max_3_plus`,
    max(`amount`) FILTER(WHERE
      `__st_weight` < 0) AS `__st_max_3_minus`
  FROM (
    SELECT
      `cust`,
      `amount`,
      `__st_weight`
    FROM (
      SELECT
        `cust`,
        `amount`,
        `__st_sign` AS `__st_weight`
      FROM (
        SELECT
          `cust`,
          `amount`,
          CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
          explode(sequence(CAST(1 AS BIGINT), CAST(abs(`__st_weight`) AS BIGINT))) AS `__st_n`
        FROM (
          SELECT
            `cust`,
            `amount`,
            `__st_weight`
          FROM `__st_changes_orders`
        ) AS `t`
        WHERE
          `__st_weight` <> 0
      ) AS `s`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `cust`
) AS `t`
-- lost groups
-- answer
WITH `__st_keys_1` AS (
  SELECT
    `cust`
  FROM (
    SELECT
      `cust`
    FROM `__st_now_lost`
  ) AS `t`
)
SELECT
  `cust`,
  `min` AS `low`,
  `max` AS `high`,
  CAST(coalesce(`__st_rows`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_rows`,
  `__st_min_2`,
  CAST(coalesce(`__st_count_1`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_1`,
  `__st_max_3`
FROM (
  SELECT
    `cust`,
    min(`amount`) AS `min`,
    max(`amount`) AS `max`,
    count(*) AS `__st_rows`,
    min(`amount`) AS `__st_min_2`,
    count(`amount`) AS `__st_count_1`,
    max(`amount`) AS `__st_max_3`
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
