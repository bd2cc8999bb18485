-- title: a comparison with ANY value is a semi join without an equality
-- sources: orders(id int, amount bigint) key id; limits(amount bigint)
SELECT id FROM orders WHERE amount > ANY (SELECT amount FROM limits)
---- plan
Project id  [linear]
  Existence semi amount > amount_3  [whole]
    Scan orders (id, amount)  [linear]
    Project amount_2 as amount_3  [linear]
      Scan limits (amount as amount_2)  [linear]
---- delta plan
Net
  Project id  [linear]
    Net
      Sum
        Existence semi amount > amount_3  [whole]
          Scan changes.orders (id, amount)  [linear]
          Project amount_2 as amount_3 (#1)  [linear]
            Scan after.limits (amount as amount_2)  [linear]
        Existence semi amount > amount_3  [whole]
          Existence semi amount > amount_3 (#2)  [whole]
            Scan before.orders (id, amount)  [linear]
            Keys amount_3
              Project amount_2 as amount_3  [linear]
                Scan changes.limits (amount as amount_2)  [linear]
          #1
        Negate
          Existence semi amount > amount_3  [whole]
            #2
            Project amount_2 as amount_3  [linear]
              Scan before.limits (amount as amount_2)  [linear]
---- delta sql (spark)
WITH `__st_step_1` AS (
  SELECT
    `amount_2` AS `amount_3`
  FROM (
    SELECT
      `amount` AS `amount_2`
    FROM `after`.`limits`
  ) AS `t`
), `__st_keys_1` AS (
  SELECT DISTINCT
    `amount_3`
  FROM (
    SELECT
      `amount_2` AS `amount_3`,
      `__st_weight`
    FROM (
      SELECT
        `amount` AS `amount_2`,
        `__st_weight`
      FROM `changes`.`limits`
    ) AS `t`
  ) AS `t`
), `__st_step_2` AS (
  SELECT
    `l`.`id`,
    `l`.`amount`
  FROM (
    SELECT
      `id`,
      `amount`
    FROM `before`.`orders`
  ) AS `l`
  LEFT SEMI JOIN `__st_keys_1` AS `r`
    ON `amount` > `amount_3`
), `__st_net_1` AS (
  SELECT
    `id`,
    `amount`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `amount`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `amount`,
        `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`amount`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `amount`,
            `__st_weight`
          FROM `changes`.`orders`
        ) AS `l`
        LEFT SEMI JOIN `__st_step_1` AS `r`
          ON `amount` > `amount_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `amount`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`amount`
        FROM `__st_step_2` AS `l`
        LEFT SEMI JOIN `__st_step_1` AS `r`
          ON `amount` > `amount_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `amount`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`amount`
        FROM `__st_step_2` AS `l`
        LEFT SEMI JOIN (
          SELECT
            `amount_2` AS `amount_3`
          FROM (
            SELECT
              `amount` AS `amount_2`
            FROM `before`.`limits`
          ) AS `t`
        ) AS `r`
          ON `amount` > `amount_3`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `amount`
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
-- answer
WITH `__st_step_1` AS (
  SELECT
    `amount_2` AS `amount_3`
  FROM (
    SELECT
      `amount` AS `amount_2`
    FROM `__st_after_limits`
  ) AS `t`
), `__st_keys_1` AS (
  SELECT DISTINCT
    `amount_3`
  FROM (
    SELECT
      `amount_2` AS `amount_3`,
      `__st_weight`
    FROM (
      SELECT
        `amount` AS `amount_2`,
        `__st_weight`
      FROM `__st_changes_limits`
    ) AS `t`
  ) AS `t`
), `__st_step_2` AS (
  SELECT /*+ BROADCAST(`r`) */
    `l`.`id`,
    `l`.`amount`,
    `l`.`__st_weight`
  FROM (
    SELECT
      `id`,
      `amount`,
      CAST(1 AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `amount`
      FROM `__st_after_orders`
    ) AS `t`
    UNION ALL
    SELECT
      `id`,
      `amount`,
      -`__st_weight` AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `amount`,
        `__st_weight`
      FROM `__st_changes_orders`
    ) AS `t`
  ) AS `l`
  LEFT SEMI JOIN `__st_keys_1` AS `r`
    ON `amount` > `amount_3`
), `__st_net_1` AS (
  SELECT
    `amount_3`,
    `__st_weight`
  FROM (
    SELECT
      `amount_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `amount_2` AS `amount_3`,
        `__st_weight`
      FROM (
        SELECT
          `amount_2`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `amount` AS `amount_2`
          FROM `__st_after_limits`
        ) AS `t`
        UNION ALL
        SELECT
          `amount_2`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT
            `amount` AS `amount_2`,
            `__st_weight`
          FROM `__st_changes_limits`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `amount_3`
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
        SELECT
          `l`.`id`,
          `l`.`amount`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `amount`,
            `__st_weight`
          FROM `__st_changes_orders`
        ) AS `l`
        LEFT SEMI JOIN `__st_step_1` AS `r`
          ON `amount` > `amount_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`amount`,
          `l`.`__st_weight`
        FROM `__st_step_2` AS `l`
        LEFT SEMI JOIN `__st_step_1` AS `r`
          ON `amount` > `amount_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `amount`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT
            `l`.`id`,
            `l`.`amount`,
            `l`.`__st_weight`
          FROM `__st_step_2` AS `l`
          LEFT SEMI JOIN (
            SELECT
              `amount_3`
            FROM (
              SELECT
                `amount_3`,
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
            ON `amount` > `amount_3`
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
FROM (
  SELECT
    `id`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `id`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    `id`
) AS `s`
WHERE
  `__st_weight` <> 0
