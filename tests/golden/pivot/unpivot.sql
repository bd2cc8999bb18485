-- title: UNPIVOT is one branch for each column; rows of NULL are left out
-- sources: sales(id int, spring bigint, autumn bigint) key id
SELECT id, season, amount FROM sales UNPIVOT (amount FOR season IN (spring, autumn))
---- plan
Project id_6 as id, season_3 as season, amount_3 as amount  [linear]
  UnionAll  [linear]
    Project id_2 as id_6, 'spring' as season_3, spring_2 as amount_3  [linear]
      Filter NOT spring_2 IS NULL  [linear]
        Scan sales (id as id_2, spring as spring_2)  [linear]
    Project id_4 as id_6, 'autumn' as season_3, autumn_3 as amount_3  [linear]
      Filter NOT autumn_3 IS NULL  [linear]
        Scan sales (id as id_4, autumn as autumn_3)  [linear]
---- delta plan
Net
  Project id_6 as id, season_3 as season, amount_3 as amount  [linear]
    UnionAll  [linear]
      Project id_2 as id_6, 'spring' as season_3, spring_2 as amount_3  [linear]
        Net
          Filter NOT spring_2 IS NULL  [linear]
            Scan changes.sales (id as id_2, spring as spring_2)  [linear]
      Project id_4 as id_6, 'autumn' as season_3, autumn_3 as amount_3  [linear]
        Net
          Filter NOT autumn_3 IS NULL  [linear]
            Scan changes.sales (id as id_4, autumn as autumn_3)  [linear]
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `id_2`,
    `spring_2`,
    `__st_weight`
  FROM (
    SELECT
      `id_2`,
      `spring_2`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id_2`,
        `spring_2`,
        `__st_weight`
      FROM (
        SELECT
          `id` AS `id_2`,
          `spring` AS `spring_2`,
          `__st_weight`
        FROM `changes`.`sales`
      ) AS `t`
      WHERE
        NOT `spring_2` IS NULL
    ) AS `t`
    GROUP BY
      `id_2`,
      `spring_2`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `id_4`,
    `autumn_3`,
    `__st_weight`
  FROM (
    SELECT
      `id_4`,
      `autumn_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id_4`,
        `autumn_3`,
        `__st_weight`
      FROM (
        SELECT
          `id` AS `id_4`,
          `autumn` AS `autumn_3`,
          `__st_weight`
        FROM `changes`.`sales`
      ) AS `t`
      WHERE
        NOT `autumn_3` IS NULL
    ) AS `t`
    GROUP BY
      `id_4`,
      `autumn_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `id`,
  `season`,
  `amount`,
  `__st_weight`
FROM (
  SELECT
    `id`,
    `season`,
    `amount`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id_6` AS `id`,
      `season_3` AS `season`,
      `amount_3` AS `amount`,
      `__st_weight`
    FROM (
      SELECT
        `id_2` AS `id_6`,
        'spring' AS `season_3`,
        `spring_2` AS `amount_3`,
        `__st_weight`
      FROM `__st_net_1` AS `t`
      UNION ALL
      SELECT
        `id_4` AS `id_6`,
        'autumn' AS `season_3`,
        `autumn_3` AS `amount_3`,
        `__st_weight`
      FROM `__st_net_2` AS `t`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `id`,
    `season`,
    `amount`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int, season string, amount bigint
-- answer
SELECT
  `id_6` AS `id`,
  `season_3` AS `season`,
  `amount_3` AS `amount`,
  `__st_weight`
FROM (
  SELECT
    `id_2` AS `id_6`,
    'spring' AS `season_3`,
    `spring_2` AS `amount_3`,
    `__st_weight`
  FROM (
    SELECT
      `id_2`,
      `spring_2`,
      `__st_weight`
    FROM (
      SELECT
        `id` AS `id_2`,
        `spring` AS `spring_2`,
        `__st_weight`
      FROM `__st_changes_sales`
    ) AS `t`
    WHERE
      NOT `spring_2` IS NULL
  ) AS `t`
  UNION ALL
  SELECT
    `id_4` AS `id_6`,
    'autumn' AS `season_3`,
    `autumn_3` AS `amount_3`,
    `__st_weight`
  FROM (
    SELECT
      `id_4`,
      `autumn_3`,
      `__st_weight`
    FROM (
      SELECT
        `id` AS `id_4`,
        `autumn` AS `autumn_3`,
        `__st_weight`
      FROM `__st_changes_sales`
    ) AS `t`
    WHERE
      NOT `autumn_3` IS NULL
  ) AS `t`
) AS `t`
