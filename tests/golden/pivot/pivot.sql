-- title: PIVOT is one aggregate with a guard for each value
-- sources: sales(id int, region string, quarter int, amount bigint) key id
SELECT * FROM (SELECT region, quarter, amount FROM sales) PIVOT (sum(amount) FOR quarter IN (1 AS first, 2 AS second))
---- plan
Project region_4 as region, CASE WHEN count > 0 THEN sum END as first, CASE WHEN count_2 > 0 THEN sum_2 END as second  [linear]
  Aggregate by region_4: count(*) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 1) as count, sum(amount_4) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 1) as sum, count(*) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 2) as count_2, sum(amount_4) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 2) as sum_2  [keyed]
    Project region_3 as region_4, quarter_3 as quarter_4, amount_3 as amount_4  [linear]
      Scan sales (region as region_3, quarter as quarter_3, amount as amount_3)  [linear]
---- delta plan
Net
  Project region_4 as region, CASE WHEN count > 0 THEN sum END as first, CASE WHEN count_2 > 0 THEN sum_2 END as second  [linear]
    Net
      Sum
        Aggregate by region_4: count(*) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 1) as count, sum(amount_4) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 1) as sum, count(*) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 2) as count_2, sum(amount_4) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 2) as sum_2  [keyed]
          Project region_3 as region_4, quarter_3 as quarter_4, amount_3 as amount_4  [linear]
            Restrict region_3 <=> key region_4
              Scan after.sales (region as region_3, quarter as quarter_3, amount as amount_3)  [linear]
              Keys region_4 (#1)
                Project region_3 as region_4, quarter_3 as quarter_4, amount_3 as amount_4  [linear]
                  Net
                    Scan changes.sales (region as region_3, quarter as quarter_3, amount as amount_3)  [linear]
        Negate
          Aggregate by region_4: count(*) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 1) as count, sum(amount_4) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 1) as sum, count(*) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 2) as count_2, sum(amount_4) FILTER(WHERE quarter_4 IS NOT DISTINCT FROM 2) as sum_2  [keyed]
            Project region_3 as region_4, quarter_3 as quarter_4, amount_3 as amount_4  [linear]
              Restrict region_3 <=> key region_4
                Scan before.sales (region as region_3, quarter as quarter_3, amount as amount_3)  [linear]
                #1
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `region_3`,
    `quarter_3`,
    `amount_3`,
    `__st_weight`
  FROM (
    SELECT
      `region_3`,
      `quarter_3`,
      `amount_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `region` AS `region_3`,
        `quarter` AS `quarter_3`,
        `amount` AS `amount_3`,
        `__st_weight`
      FROM `changes`.`sales`
    ) AS `t`
    GROUP BY
      `region_3`,
      `quarter_3`,
      `amount_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `region_4`
  FROM (
    SELECT
      `region_3` AS `region_4`,
      `quarter_3` AS `quarter_4`,
      `amount_3` AS `amount_4`,
      `__st_weight`
    FROM `__st_net_1` AS `t`
  ) AS `t`
), `__st_net_2` AS (
  SELECT
    `region_4`,
    `count`,
    `sum`,
    `count_2`,
    `sum_2`,
    `__st_weight`
  FROM (
    SELECT
      `region_4`,
      `count`,
      `sum`,
      `count_2`,
      `sum_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `region_4`,
        `count`,
        `sum`,
        `count_2`,
        `sum_2`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `region_4`,
          count(*) FILTER(WHERE
            `quarter_4` IS NOT DISTINCT FROM 1) AS `count`,
          sum(`amount_4`) FILTER(WHERE
            `quarter_4` IS NOT DISTINCT FROM 1) AS `sum`,
          count(*) FILTER(WHERE
            `quarter_4` IS NOT DISTINCT FROM 2) AS `count_2`,
          sum(`amount_4`) FILTER(WHERE
            `quarter_4` IS NOT DISTINCT FROM 2) AS `sum_2`
        FROM (
          SELECT
            `region_3` AS `region_4`,
            `quarter_3` AS `quarter_4`,
            `amount_3` AS `amount_4`
          FROM (
            SELECT
              `t`.`region_3`,
              `t`.`quarter_3`,
              `t`.`amount_3`
            FROM (
              SELECT
                `region` AS `region_3`,
                `quarter` AS `quarter_3`,
                `amount` AS `amount_3`
              FROM `after`.`sales`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`region_3` IS NOT DISTINCT FROM `k`.`region_4`
          ) AS `t`
        ) AS `t`
        GROUP BY
          `region_4`
      ) AS `t`
      UNION ALL
      SELECT
        `region_4`,
        `count`,
        `sum`,
        `count_2`,
        `sum_2`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `region_4`,
          count(*) FILTER(WHERE
            `quarter_4` IS NOT DISTINCT FROM 1) AS `count`,
          sum(`amount_4`) FILTER(WHERE
            `quarter_4` IS NOT DISTINCT FROM 1) AS `sum`,
          count(*) FILTER(WHERE
            `quarter_4` IS NOT DISTINCT FROM 2) AS `count_2`,
          sum(`amount_4`) FILTER(WHERE
            `quarter_4` IS NOT DISTINCT FROM 2) AS `sum_2`
        FROM (
          SELECT
            `region_3` AS `region_4`,
            `quarter_3` AS `quarter_4`,
            `amount_3` AS `amount_4`
          FROM (
            SELECT
              `t`.`region_3`,
              `t`.`quarter_3`,
              `t`.`amount_3`
            FROM (
              SELECT
                `region` AS `region_3`,
                `quarter` AS `quarter_3`,
                `amount` AS `amount_3`
              FROM `before`.`sales`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`region_3` IS NOT DISTINCT FROM `k`.`region_4`
          ) AS `t`
        ) AS `t`
        GROUP BY
          `region_4`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `region_4`,
      `count`,
      `sum`,
      `count_2`,
      `sum_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `region`,
  `first`,
  `second`,
  `__st_weight`
FROM (
  SELECT
    `region`,
    `first`,
    `second`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `region_4` AS `region`,
      CASE WHEN `count` > 0 THEN `sum` END AS `first`,
      CASE WHEN `count_2` > 0 THEN `sum_2` END AS `second`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `region`,
    `first`,
    `second`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- stored-state: every aggregate at the root follows from sums and counts, which add up
-- stored: region string, first bigint, second bigint, __st_rows bigint, __st_count_1 bigint, __st_sum_4 bigint, __st_count_3 bigint, __st_count_5 bigint, __st_sum_8 bigint, __st_count_7 bigint
-- answer
SELECT
  `region_4`,
  CAST(coalesce(`__st_rows`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_rows`,
  CAST(coalesce(`__st_count_1`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_1`,
  CAST(coalesce(`__st_sum_4_plus`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_sum_4_plus`,
  CAST(coalesce(`__st_sum_4_minus`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_sum_4_minus`,
  CAST(coalesce(`__st_count_3`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_3`,
  CAST(coalesce(`__st_count_5`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_5`,
  CAST(coalesce(`__st_sum_8_plus`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_sum_8_plus`,
  CAST(coalesce(`__st_sum_8_minus`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_sum_8_minus`,
  CAST(coalesce(`__st_count_7`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_count_7`
FROM (
  SELECT
    `region_4`,
    sum(`__st_weight`) AS `__st_rows`,
    sum(`__st_weight`) FILTER(WHERE
      (
        `quarter_4` IS NOT DISTINCT FROM 1
      )) AS `__st_count_1`,
    sum(`amount_4`) FILTER(WHERE
      `__st_weight` > 0 AND (
        `quarter_4` IS NOT DISTINCT FROM 1
      )) AS `__st_sum_4_plus`,
    sum(`amount_4`) FILTER(WHERE
      `__st_weight` < 0 AND (
        `quarter_4` IS NOT DISTINCT FROM 1
      )) AS `__st_sum_4_minus`,
    sum(`__st_weight`) FILTER(WHERE
      (
        `quarter_4` IS NOT DISTINCT FROM 1
      ) AND NOT (
        `amount_4`
      ) IS NULL) AS `__st_count_3`,
    sum(`__st_weight`) FILTER(WHERE
      (
        `quarter_4` IS NOT DISTINCT FROM 2
      )) AS `__st_count_5`,
    sum(`amount_4`) FILTER(WHERE
      `__st_weight` > 0 AND (
        `quarter_4` IS NOT DISTINCT FROM 2
      )) AS `__st_sum_8_plus`,
    sum(`amount_4`) FILTER(WHERE
      `__st_weight` < 0 AND (
        `quarter_4` IS NOT DISTINCT FROM 2
      )) AS `__st_sum_8_minus`,
    sum(`__st_weight`) FILTER(WHERE
      (
        `quarter_4` IS NOT DISTINCT FROM 2
      ) AND NOT (
        `amount_4`
      ) IS NULL) AS `__st_count_7`
  FROM (
    SELECT
      `region_4`,
      `quarter_4`,
      `amount_4`,
      `__st_weight`
    FROM (
      SELECT
        `region_4`,
        `quarter_4`,
        `amount_4`,
        `__st_sign` AS `__st_weight`
      FROM (
        SELECT
          `region_4`,
          `quarter_4`,
          `amount_4`,
          CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
          explode(sequence(CAST(1 AS BIGINT), CAST(abs(`__st_weight`) AS BIGINT))) AS `__st_n`
        FROM (
          SELECT
            `region_3` AS `region_4`,
            `quarter_3` AS `quarter_4`,
            `amount_3` AS `amount_4`,
            `__st_weight`
          FROM (
            SELECT
              `region` AS `region_3`,
              `quarter` AS `quarter_3`,
              `amount` AS `amount_3`,
              `__st_weight`
            FROM `__st_changes_sales`
          ) AS `t`
        ) AS `t`
        WHERE
          `__st_weight` <> 0
      ) AS `s`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `region_4`
) AS `t`
