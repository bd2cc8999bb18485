-- title: a comparison with ALL values: none refutes it, and none leaves it open
-- sources: orders(id int, amount bigint) key id; limits(amount bigint)
SELECT id FROM orders WHERE amount > ALL (SELECT amount FROM limits)
---- plan
Project id  [linear]
  Filter NOT any  [linear]
    Project id, CASE WHEN found THEN TRUE WHEN gap OR ((amount) IS NULL AND some) THEN CAST(NULL AS BOOLEAN) ELSE FALSE END as any  [linear]
      InnerJoin every pair  [multilinear]
        Existence mark amount <= amount_3  [whole]
          Scan orders (id, amount)  [linear]
          Project amount_2 as amount_3 (#1)  [linear]
            Scan limits (amount as amount_2)  [linear]
        Project rows > 0 as some, present < rows as gap  [linear]
          Aggregate of all rows: count(*) as rows, count(amount_3) as present  [whole]
            #1
---- delta plan
Net
  Sum
    Project id  [linear]
      Filter NOT (CASE WHEN found THEN TRUE WHEN gap OR ((amount) IS NULL AND some) THEN CAST(NULL AS BOOLEAN) ELSE FALSE END)  [linear]
        InnerJoin every pair  [multilinear]
          Net
            Sum
              Existence mark amount <= amount_3  [whole]
                Scan changes.orders (id, amount)  [linear]
                Project amount_2 as amount_3 (#1)  [linear]
                  Scan after.limits (amount as amount_2)  [linear]
              Existence mark amount <= amount_3  [whole]
                Existence semi amount <= amount_3 (#2)  [whole]
                  Scan before.orders (id, amount)  [linear]
                  Keys amount_3
                    Project amount_2 as amount_3  [linear]
                      Scan changes.limits (amount as amount_2)  [linear]
                #1
              Negate
                Existence mark amount <= amount_3  [whole]
                  #2
                  Project amount_2 as amount_3 (#3)  [linear]
                    Scan before.limits (amount as amount_2)  [linear]
          Project rows > 0 as some, present < rows as gap  [linear]
            Aggregate of all rows: count(*) as rows, count(amount_3) as present  [whole]
              #1
    Project id  [linear]
      Weighed NOT (CASE WHEN found THEN TRUE WHEN gap OR ((amount) IS NULL AND some) THEN CAST(NULL AS BOOLEAN) ELSE FALSE END)
        Existence mark amount <= amount_3  [whole]
          Scan before.orders (id, amount)  [linear]
          #3
        Net
          Project rows > 0 as some, present < rows as gap  [linear]
            Net
              Sum
                Aggregate of all rows: count(*) as rows, count(amount_3) as present  [whole]
                  #1
                Negate
                  Aggregate of all rows: count(*) as rows, count(amount_3) as present  [whole]
                    #3
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
    ON `amount` <= `amount_3`
), `__st_step_3` AS (
  SELECT
    `amount_2` AS `amount_3`
  FROM (
    SELECT
      `amount` AS `amount_2`
    FROM `before`.`limits`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `id`,
    `amount`,
    `found`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `amount`,
      `found`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `amount`,
        `found`,
        `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`amount`,
          TRUE AS `found`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `amount`,
            `__st_weight`
          FROM `changes`.`orders`
        ) AS `l`
        LEFT SEMI JOIN `__st_step_1` AS `r`
          ON `amount` <= `amount_3`
        UNION ALL
        SELECT
          `l`.`id`,
          `l`.`amount`,
          FALSE AS `found`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `amount`,
            `__st_weight`
          FROM `changes`.`orders`
        ) AS `l`
        LEFT ANTI JOIN `__st_step_1` AS `r`
          ON `amount` <= `amount_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `amount`,
        `found`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`amount`,
          TRUE AS `found`
        FROM `__st_step_2` AS `l`
        LEFT SEMI JOIN `__st_step_1` AS `r`
          ON `amount` <= `amount_3`
        UNION ALL
        SELECT
          `l`.`id`,
          `l`.`amount`,
          FALSE AS `found`
        FROM `__st_step_2` AS `l`
        LEFT ANTI JOIN `__st_step_1` AS `r`
          ON `amount` <= `amount_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `amount`,
        `found`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`amount`,
          TRUE AS `found`
        FROM `__st_step_2` AS `l`
        LEFT SEMI JOIN `__st_step_3` AS `r`
          ON `amount` <= `amount_3`
        UNION ALL
        SELECT
          `l`.`id`,
          `l`.`amount`,
          FALSE AS `found`
        FROM `__st_step_2` AS `l`
        LEFT ANTI JOIN `__st_step_3` AS `r`
          ON `amount` <= `amount_3`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `amount`,
      `found`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `rows`,
    `present`,
    `__st_weight`
  FROM (
    SELECT
      `rows`,
      `present`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `rows`,
        `present`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          count(*) AS `rows`,
          count(`amount_3`) AS `present`
        FROM `__st_step_1` AS `t`
      ) AS `t`
      UNION ALL
      SELECT
        `rows`,
        `present`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          count(*) AS `rows`,
          count(`amount_3`) AS `present`
        FROM `__st_step_3` AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `rows`,
      `present`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_3` AS (
  SELECT
    `some`,
    `gap`,
    `__st_weight`
  FROM (
    SELECT
      `some`,
      `gap`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `rows` > 0 AS `some`,
        `present` < `rows` AS `gap`,
        `__st_weight`
      FROM `__st_net_2` AS `t`
    ) AS `t`
    GROUP BY
      `some`,
      `gap`
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
    FROM (
      SELECT
        `id`,
        `amount`,
        `found`,
        `some`,
        `gap`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `amount`,
          `found`,
          `some`,
          `gap`,
          `t1`.`__st_weight`
        FROM `__st_net_1` AS `t1`
        CROSS JOIN (
          SELECT
            `rows` > 0 AS `some`,
            `present` < `rows` AS `gap`
          FROM (
            SELECT
              count(*) AS `rows`,
              count(`amount_3`) AS `present`
            FROM `__st_step_1` AS `t`
          ) AS `t`
        ) AS `t2`
      ) AS `t`
      WHERE
        NOT (
          CASE
            WHEN `found`
            THEN TRUE
            WHEN `gap` OR (
              (
                `amount`
              ) IS NULL AND `some`
            )
            THEN CAST(NULL AS BOOLEAN)
            ELSE FALSE
          END
        )
    ) AS `t`
    UNION ALL
    SELECT
      `id`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `amount`,
        `found`,
        `__st_weight`
      FROM (
        SELECT
          `t`.`id`,
          `t`.`amount`,
          `t`.`found`,
          CASE
            WHEN NOT `o`.`__st_weight` IS NULL
            AND NOT (
              CASE
                WHEN `found`
                THEN TRUE
                WHEN `o`.`gap` OR (
                  (
                    `amount`
                  ) IS NULL AND `o`.`some`
                )
                THEN CAST(NULL AS BOOLEAN)
                ELSE FALSE
              END
            )
            THEN `o`.`__st_weight`
            ELSE CAST(0 AS BIGINT)
          END + CASE
            WHEN NOT `n`.`__st_weight` IS NULL
            AND NOT (
              CASE
                WHEN `found`
                THEN TRUE
                WHEN `n`.`gap` OR (
                  (
                    `amount`
                  ) IS NULL AND `n`.`some`
                )
                THEN CAST(NULL AS BOOLEAN)
                ELSE FALSE
              END
            )
            THEN `n`.`__st_weight`
            ELSE CAST(0 AS BIGINT)
          END AS `__st_weight`
        FROM (
          SELECT
            `l`.`id`,
            `l`.`amount`,
            TRUE AS `found`
          FROM (
            SELECT
              `id`,
              `amount`
            FROM `before`.`orders`
          ) AS `l`
          LEFT SEMI JOIN `__st_step_3` AS `r`
            ON `amount` <= `amount_3`
          UNION ALL
          SELECT
            `l`.`id`,
            `l`.`amount`,
            FALSE AS `found`
          FROM (
            SELECT
              `id`,
              `amount`
            FROM `before`.`orders`
          ) AS `l`
          LEFT ANTI JOIN `__st_step_3` AS `r`
            ON `amount` <= `amount_3`
        ) AS `t`
        LEFT JOIN (
          SELECT
            `some`,
            `gap`,
            `__st_weight`
          FROM `__st_net_3` AS `s`
          WHERE
            `__st_weight` < 0
        ) AS `o`
          ON TRUE
        LEFT JOIN (
          SELECT
            `some`,
            `gap`,
            `__st_weight`
          FROM `__st_net_3` AS `s`
          WHERE
            `__st_weight` > 0
        ) AS `n`
          ON TRUE
      ) AS `w`
      WHERE
        `__st_weight` <> 0
    ) AS `t`
  ) AS `t`
  GROUP BY
    `id`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: id int
-- step __st_net_4
WITH `__st_step_1` AS (
  SELECT
    `amount_2` AS `amount_3`
  FROM (
    SELECT
      `amount` AS `amount_2`
    FROM `__st_after_limits`
  ) AS `t`
), `__st_groups_1` AS (
  SELECT
    count(*) AS `rows`,
    count(`amount_3`) AS `present`
  FROM `__st_step_1` AS `t`
), `__st_step_3` AS (
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
), `__st_net_3` AS (
  SELECT
    `rows`,
    `present`,
    `__st_weight`
  FROM (
    SELECT
      `rows`,
      `present`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `rows`,
        `present`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_groups_1` AS `t`
      UNION ALL
      SELECT
        `rows`,
        `present`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          coalesce(`rows`, CAST(0 AS BIGINT)) AS `rows`,
          coalesce(`present`, CAST(0 AS BIGINT)) AS `present`
        FROM (
          SELECT
            sum(`__st_weight`) AS `rows`,
            sum(`__st_weight`) FILTER(WHERE
              NOT (
                `amount_3`
              ) IS NULL) AS `present`
          FROM (
            SELECT
              `amount_3`,
              `__st_weight`
            FROM `__st_step_3` AS `t`
          ) AS `t`
        ) AS `t`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `rows`,
      `present`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `some`,
  `gap`,
  `__st_weight`
FROM (
  SELECT
    `some`,
    `gap`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `rows` > 0 AS `some`,
      `present` < `rows` AS `gap`,
      `__st_weight`
    FROM `__st_net_3` AS `t`
  ) AS `t`
  GROUP BY
    `some`,
    `gap`
) AS `s`
WHERE
  `__st_weight` <> 0
-- answer
WITH `__st_step_1` AS (
  SELECT
    `amount_2` AS `amount_3`
  FROM (
    SELECT
      `amount` AS `amount_2`
    FROM `__st_after_limits`
  ) AS `t`
), `__st_terms_1` AS (
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
  FROM `__st_terms_1` AS `l`
  LEFT SEMI JOIN `__st_keys_1` AS `r`
    ON `amount` <= `amount_3`
), `__st_step_3` AS (
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
), `__st_net_1` AS (
  SELECT
    `amount_3`,
    `__st_weight`
  FROM (
    SELECT
      `amount_3`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM `__st_step_3` AS `t`
    GROUP BY
      `amount_3`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_step_4` AS (
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
), `__st_net_2` AS (
  SELECT
    `id`,
    `amount`,
    `found`,
    `__st_weight`
  FROM (
    SELECT
      `id`,
      `amount`,
      `found`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `id`,
        `amount`,
        `found`,
        `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`amount`,
          TRUE AS `found`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `amount`,
            `__st_weight`
          FROM `__st_changes_orders`
        ) AS `l`
        LEFT SEMI JOIN `__st_step_1` AS `r`
          ON `amount` <= `amount_3`
        UNION ALL
        SELECT
          `l`.`id`,
          `l`.`amount`,
          FALSE AS `found`,
          `l`.`__st_weight`
        FROM (
          SELECT
            `id`,
            `amount`,
            `__st_weight`
          FROM `__st_changes_orders`
        ) AS `l`
        LEFT ANTI JOIN `__st_step_1` AS `r`
          ON `amount` <= `amount_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `amount`,
        `found`,
        `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`amount`,
          TRUE AS `found`,
          `l`.`__st_weight`
        FROM `__st_step_2` AS `l`
        LEFT SEMI JOIN `__st_step_1` AS `r`
          ON `amount` <= `amount_3`
        UNION ALL
        SELECT
          `l`.`id`,
          `l`.`amount`,
          FALSE AS `found`,
          `l`.`__st_weight`
        FROM `__st_step_2` AS `l`
        LEFT ANTI JOIN `__st_step_1` AS `r`
          ON `amount` <= `amount_3`
      ) AS `t`
      UNION ALL
      SELECT
        `id`,
        `amount`,
        `found`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT
          `l`.`id`,
          `l`.`amount`,
          TRUE AS `found`,
          `l`.`__st_weight`
        FROM `__st_step_2` AS `l`
        LEFT SEMI JOIN `__st_step_4` AS `r`
          ON `amount` <= `amount_3`
        UNION ALL
        SELECT
          `l`.`id`,
          `l`.`amount`,
          FALSE AS `found`,
          `l`.`__st_weight`
        FROM `__st_step_2` AS `l`
        LEFT ANTI JOIN `__st_step_4` AS `r`
          ON `amount` <= `amount_3`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `id`,
      `amount`,
      `found`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_groups_1` AS (
  SELECT
    count(*) AS `rows`,
    count(`amount_3`) AS `present`
  FROM `__st_step_1` AS `t`
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
    FROM (
      SELECT
        `id`,
        `amount`,
        `found`,
        `some`,
        `gap`,
        `__st_weight`
      FROM (
        SELECT
          `id`,
          `amount`,
          `found`,
          `some`,
          `gap`,
          `t1`.`__st_weight`
        FROM `__st_net_2` AS `t1`
        CROSS JOIN (
          SELECT
            `rows` > 0 AS `some`,
            `present` < `rows` AS `gap`
          FROM `__st_groups_1` AS `t`
        ) AS `t2`
      ) AS `t`
      WHERE
        NOT (
          CASE
            WHEN `found`
            THEN TRUE
            WHEN `gap` OR (
              (
                `amount`
              ) IS NULL AND `some`
            )
            THEN CAST(NULL AS BOOLEAN)
            ELSE FALSE
          END
        )
    ) AS `t`
    UNION ALL
    SELECT
      `id`,
      `__st_weight`
    FROM (
      SELECT
        `id`,
        `amount`,
        `found`,
        `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`o`, `n`) */
          `t`.`id`,
          `t`.`amount`,
          `t`.`found`,
          `t`.`__st_weight` * (
            CASE
              WHEN NOT `o`.`__st_weight` IS NULL
              AND NOT (
                CASE
                  WHEN `found`
                  THEN TRUE
                  WHEN `o`.`gap` OR (
                    (
                      `amount`
                    ) IS NULL AND `o`.`some`
                  )
                  THEN CAST(NULL AS BOOLEAN)
                  ELSE FALSE
                END
              )
              THEN `o`.`__st_weight`
              ELSE CAST(0 AS BIGINT)
            END + CASE
              WHEN NOT `n`.`__st_weight` IS NULL
              AND NOT (
                CASE
                  WHEN `found`
                  THEN TRUE
                  WHEN `n`.`gap` OR (
                    (
                      `amount`
                    ) IS NULL AND `n`.`some`
                  )
                  THEN CAST(NULL AS BOOLEAN)
                  ELSE FALSE
                END
              )
              THEN `n`.`__st_weight`
              ELSE CAST(0 AS BIGINT)
            END
          ) AS `__st_weight`
        FROM (
          SELECT
            `l`.`id`,
            `l`.`amount`,
            TRUE AS `found`,
            `l`.`__st_weight`
          FROM `__st_terms_1` AS `l`
          LEFT SEMI JOIN `__st_step_4` AS `r`
            ON `amount` <= `amount_3`
          UNION ALL
          SELECT
            `l`.`id`,
            `l`.`amount`,
            FALSE AS `found`,
            `l`.`__st_weight`
          FROM `__st_terms_1` AS `l`
          LEFT ANTI JOIN `__st_step_4` AS `r`
            ON `amount` <= `amount_3`
        ) AS `t`
        LEFT JOIN (
          SELECT
            `some`,
            `gap`,
            `__st_weight`
          FROM `__st_net_4` AS `s`
          WHERE
            `__st_weight` < 0
        ) AS `o`
          ON TRUE
        LEFT JOIN (
          SELECT
            `some`,
            `gap`,
            `__st_weight`
          FROM `__st_net_4` AS `s`
          WHERE
            `__st_weight` > 0
        ) AS `n`
          ON TRUE
      ) AS `w`
      WHERE
        `__st_weight` <> 0
    ) AS `t`
  ) AS `t`
  GROUP BY
    `id`
) AS `s`
WHERE
  `__st_weight` <> 0
