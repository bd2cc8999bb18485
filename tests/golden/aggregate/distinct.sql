-- title: DISTINCT is a count of each row
-- sources: customers(cust_id int, name string, region string) key cust_id
SELECT DISTINCT region FROM customers
---- plan
Project region_2 as region  [linear]
  Distinct  [keyed]
    Project region as region_2  [linear]
      Scan customers (region)  [linear]
---- delta plan
Net
  Project region_2 as region  [linear]
    Net
      Sum
        Distinct  [keyed]
          Project region as region_2  [linear]
            Restrict region <=> key region_2
              Scan after.customers (region)  [linear]
              Keys region_2 (#1)
                Project region as region_2  [linear]
                  Net
                    Scan changes.customers (region)  [linear]
        Negate
          Distinct  [keyed]
            Project region as region_2  [linear]
              Restrict region <=> key region_2
                Scan before.customers (region)  [linear]
                #1
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `region`,
    `__st_weight`
  FROM (
    SELECT
      `region`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `region`,
        `__st_weight`
      FROM `changes`.`customers`
    ) AS `t`
    GROUP BY
      `region`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `region_2`
  FROM (
    SELECT
      `region` AS `region_2`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
), `__st_net_2` AS (
  SELECT
    `region_2`,
    `__st_weight`
  FROM (
    SELECT
      `region_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `region_2`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT DISTINCT
          `region_2`
        FROM (
          SELECT
            `region` AS `region_2`
          FROM (
            SELECT
              `t`.`region`
            FROM (
              SELECT
                `region`
              FROM `after`.`customers`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`region` IS NOT DISTINCT FROM `k`.`region_2`
          ) AS `t`
        ) AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `region_2`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT DISTINCT
          `region_2`
        FROM (
          SELECT
            `region` AS `region_2`
          FROM (
            SELECT
              `t`.`region`
            FROM (
              SELECT
                `region`
              FROM `before`.`customers`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`region` IS NOT DISTINCT FROM `k`.`region_2`
          ) AS `t`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `region_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `region`,
  `__st_weight`
FROM (
  SELECT
    `region`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `region_2` AS `region`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `region`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- stored-state: every aggregate at the root follows from sums and counts, which add up
-- stored: region string, __st_rows bigint
-- answer
SELECT
  `region_2`,
  CAST(coalesce(`__st_rows`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_rows`
FROM (
  SELECT
    `region_2`,
    sum(`__st_weight`) AS `__st_rows`
  FROM (
    SELECT
      `region_2`,
      `__st_weight`
    FROM (
      SELECT
        `region_2`,
        `__st_sign` AS `__st_weight`
      FROM (
        SELECT
          `region_2`,
          CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
          explode(sequence(CAST(1 AS BIGINT), CAST(abs(`__st_weight`) AS BIGINT))) AS `__st_n`
        FROM (
          SELECT
            `region` AS `region_2`,
            `__st_weight`
          FROM (
            SELECT
              `region`,
              `__st_weight`
            FROM `__st_changes_customers`
          ) AS `t`
        ) AS `t`
        WHERE
          `__st_weight` <> 0
      ) AS `s`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `region_2`
) AS `t`
