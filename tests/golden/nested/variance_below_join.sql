-- title: a variance that a join reads is computed over its values in order
-- sources: readings(id int, device int, level double) key id; devices(device int, most double) key device
SELECT d.device
FROM devices AS d
JOIN (SELECT device, var_samp(level) AS spread FROM readings GROUP BY device) AS r ON r.device = d.device
WHERE spread > most
---- plan
Project device  [linear]
  InnerJoin device_3 = device and spread > most  [multilinear]
    Scan devices (device, most)  [linear]
    Project device_2 as device_3, var_samp as spread  [linear]
      Aggregate by device_2: var_samp(level) in order of size as var_samp  [keyed]
        Scan readings (device as device_2, level)  [linear]
---- delta plan
Net
  Project device  [linear]
    Sum
      InnerJoin device_3 = device and spread > most  [multilinear]
        Scan changes.devices (device, most)  [linear]
        Project device_2 as device_3, var_samp as spread  [linear]
          Aggregate by device_2: var_samp(level) in order of size as var_samp  [keyed]
            Restrict device_2 <=> key device
              Scan after.readings (device as device_2, level)  [linear]
              Keys device
                Scan changes.devices (device, most)  [linear]
      InnerJoin device_3 = device and spread > most  [multilinear]
        Scan before.devices (device, most)  [linear]
        Project device_2 as device_3, var_samp as spread  [linear]
          Net
            Sum
              Aggregate by device_2: var_samp(level) in order of size as var_samp  [keyed]
                Restrict device_2 <=> key device_2
                  Scan after.readings (device as device_2, level)  [linear]
                  Keys device_2 (#1)
                    Net
                      Scan changes.readings (device as device_2, level)  [linear]
              Negate
                Aggregate by device_2: var_samp(level) in order of size as var_samp  [keyed]
                  Restrict device_2 <=> key device_2
                    Scan before.readings (device as device_2, level)  [linear]
                    #1
---- delta sql (spark)
WITH `__st_keys_1` AS (
  SELECT DISTINCT
    `device`
  FROM (
    SELECT
      `device`,
      `most`,
      `__st_weight`
    FROM `changes`.`devices`
  ) AS `t`
  WHERE
    NOT `device` IS NULL
), `__st_net_1` AS (
  SELECT
    `device_2`,
    `level`,
    `__st_weight`
  FROM (
    SELECT
      `device_2`,
      any_value(`level`) AS `level`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `device` AS `device_2`,
        `level`,
        `__st_weight`
      FROM `changes`.`readings`
    ) AS `t`
    GROUP BY
      `device_2`,
      CAST(`level` AS STRING)
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_2` AS (
  SELECT DISTINCT
    `device_2`
  FROM `__st_net_1` AS `t`
), `__st_net_2` AS (
  SELECT
    `device_2`,
    `var_samp`,
    `__st_weight`
  FROM (
    SELECT
      `device_2`,
      any_value(`var_samp`) AS `var_samp`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `device_2`,
        `var_samp`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `device_2`,
          aggregate(
            sort_array(collect_list(CAST((
              `level`
            ) AS DOUBLE))),
            named_struct('n', CAST(0 AS DOUBLE), 'mean', CAST(0 AS DOUBLE), 's2', CAST(0 AS DOUBLE)),
            (`__st_so_far`, `__st_value`) -> named_struct(
              'n',
              `__st_so_far`.`n` + 1,
              'mean',
              `__st_so_far`.`mean` + (
                (
                  `__st_value` - `__st_so_far`.`mean`
                ) / (
                  `__st_so_far`.`n` + 1
                )
              ),
              's2',
              `__st_so_far`.`s2` + (
                (
                  `__st_value` - `__st_so_far`.`mean`
                ) * (
                  (
                    `__st_value` - `__st_so_far`.`mean`
                  ) - (
                    (
                      `__st_value` - `__st_so_far`.`mean`
                    ) / (
                      `__st_so_far`.`n` + 1
                    )
                  )
                )
              )
            ),
            `__st_so_far` -> CASE
              WHEN `__st_so_far`.`n` > 1
              THEN `__st_so_far`.`s2` / (
                `__st_so_far`.`n` - 1
              )
            END
          ) AS `var_samp`
        FROM (
          SELECT
            `t`.`device_2`,
            `t`.`level`
          FROM (
            SELECT
              `device` AS `device_2`,
              `level`
            FROM `after`.`readings`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`device_2` IS NOT DISTINCT FROM `k`.`device_2`
        ) AS `t`
        GROUP BY
          `device_2`
      ) AS `t`
      UNION ALL
      SELECT
        `device_2`,
        `var_samp`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `device_2`,
          aggregate(
            sort_array(collect_list(CAST((
              `level`
            ) AS DOUBLE))),
            named_struct('n', CAST(0 AS DOUBLE), 'mean', CAST(0 AS DOUBLE), 's2', CAST(0 AS DOUBLE)),
            (`__st_so_far`, `__st_value`) -> named_struct(
              'n',
              `__st_so_far`.`n` + 1,
              'mean',
              `__st_so_far`.`mean` + (
                (
                  `__st_value` - `__st_so_far`.`mean`
                ) / (
                  `__st_so_far`.`n` + 1
                )
              ),
              's2',
              `__st_so_far`.`s2` + (
                (
                  `__st_value` - `__st_so_far`.`mean`
                ) * (
                  (
                    `__st_value` - `__st_so_far`.`mean`
                  ) - (
                    (
                      `__st_value` - `__st_so_far`.`mean`
                    ) / (
                      `__st_so_far`.`n` + 1
                    )
                  )
                )
              )
            ),
            `__st_so_far` -> CASE
              WHEN `__st_so_far`.`n` > 1
              THEN `__st_so_far`.`s2` / (
                `__st_so_far`.`n` - 1
              )
            END
          ) AS `var_samp`
        FROM (
          SELECT
            `t`.`device_2`,
            `t`.`level`
          FROM (
            SELECT
              `device` AS `device_2`,
              `level`
            FROM `before`.`readings`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_2` AS `k`
            ON `t`.`device_2` IS NOT DISTINCT FROM `k`.`device_2`
        ) AS `t`
        GROUP BY
          `device_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `device_2`,
      CAST(`var_samp` AS STRING)
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `device`,
  `__st_weight`
FROM (
  SELECT
    `device`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      `device`,
      `__st_weight`
    FROM (
      SELECT
        `device`,
        `most`,
        `device_3`,
        `spread`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `device`,
          `most`,
          `__st_weight`
        FROM `changes`.`devices`
      ) AS `t1`
      JOIN (
        SELECT
          `device_2` AS `device_3`,
          `var_samp` AS `spread`
        FROM (
          SELECT
            `device_2`,
            aggregate(
              sort_array(collect_list(CAST((
                `level`
              ) AS DOUBLE))),
              named_struct('n', CAST(0 AS DOUBLE), 'mean', CAST(0 AS DOUBLE), 's2', CAST(0 AS DOUBLE)),
              (`__st_so_far`, `__st_value`) -> named_struct(
                'n',
                `__st_so_far`.`n` + 1,
                'mean',
                `__st_so_far`.`mean` + (
                  (
                    `__st_value` - `__st_so_far`.`mean`
                  ) / (
                    `__st_so_far`.`n` + 1
                  )
                ),
                's2',
                `__st_so_far`.`s2` + (
                  (
                    `__st_value` - `__st_so_far`.`mean`
                  ) * (
                    (
                      `__st_value` - `__st_so_far`.`mean`
                    ) - (
                      (
                        `__st_value` - `__st_so_far`.`mean`
                      ) / (
                        `__st_so_far`.`n` + 1
                      )
                    )
                  )
                )
              ),
              `__st_so_far` -> CASE
                WHEN `__st_so_far`.`n` > 1
                THEN `__st_so_far`.`s2` / (
                  `__st_so_far`.`n` - 1
                )
              END
            ) AS `var_samp`
          FROM (
            SELECT
              `t`.`device_2`,
              `t`.`level`
            FROM (
              SELECT
                `device` AS `device_2`,
                `level`
              FROM `after`.`readings`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`device_2` = `k`.`device`
          ) AS `t`
          GROUP BY
            `device_2`
        ) AS `t`
      ) AS `t2`
        ON `device_3` = `device` AND `spread` > `most`
      UNION ALL
      SELECT
        `device`,
        `most`,
        `device_3`,
        `spread`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `device_2` AS `device_3`,
          `var_samp` AS `spread`,
          `__st_weight`
        FROM `__st_net_2` AS `t`
      ) AS `t1`
      JOIN (
        SELECT
          `device`,
          `most`
        FROM `before`.`devices`
      ) AS `t2`
        ON `device_3` = `device` AND `spread` > `most`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `device`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- signed-rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
-- stored: device int
-- step __st_step_1
WITH `__st_keys_2` AS (
  SELECT
    `device_2`
  FROM (
    SELECT
      `device` AS `device_2`,
      `level`,
      `__st_weight`
    FROM `__st_changes_readings`
  ) AS `t`
)
SELECT /*+ BROADCAST(`k`) */
  `t`.`device_2`,
  `t`.`level`
FROM (
  SELECT
    `device` AS `device_2`,
    `level`
  FROM `__st_after_readings`
) AS `t`
LEFT SEMI JOIN `__st_keys_2` AS `k`
  ON `t`.`device_2` IS NOT DISTINCT FROM `k`.`device_2`
-- answer
WITH `__st_keys_1` AS (
  SELECT
    `device`
  FROM (
    SELECT
      `device`,
      `most`,
      `__st_weight`
    FROM `__st_changes_devices`
  ) AS `t`
  WHERE
    NOT `device` IS NULL
), `__st_keys_2` AS (
  SELECT
    `device_2`
  FROM (
    SELECT
      `device` AS `device_2`,
      `level`,
      `__st_weight`
    FROM `__st_changes_readings`
  ) AS `t`
), `__st_net_1` AS (
  SELECT
    `device_2`,
    `level`,
    `__st_weight`
  FROM (
    SELECT
      `device_2`,
      any_value(`level`) AS `level`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `device_2`,
        `level`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM `__st_step_1` AS `t`
      UNION ALL
      SELECT
        `device_2`,
        `level`,
        -`__st_weight` AS `__st_weight`
      FROM (
        SELECT /*+ BROADCAST(`k`) */
          `t`.`device_2`,
          `t`.`level`,
          `t`.`__st_weight`
        FROM (
          SELECT
            `device` AS `device_2`,
            `level`,
            `__st_weight`
          FROM `__st_changes_readings`
        ) AS `t`
        LEFT SEMI JOIN `__st_keys_2` AS `k`
          ON `t`.`device_2` IS NOT DISTINCT FROM `k`.`device_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `device_2`,
      CAST(`level` AS STRING)
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_net_2` AS (
  SELECT
    `device_2`,
    `var_samp`,
    `__st_weight`
  FROM (
    SELECT
      `device_2`,
      any_value(`var_samp`) AS `var_samp`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `device_2`,
        `var_samp`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `device_2`,
          aggregate(
            sort_array(collect_list(CAST((
              `level`
            ) AS DOUBLE))),
            named_struct('n', CAST(0 AS DOUBLE), 'mean', CAST(0 AS DOUBLE), 's2', CAST(0 AS DOUBLE)),
            (`__st_so_far`, `__st_value`) -> named_struct(
              'n',
              `__st_so_far`.`n` + 1,
              'mean',
              `__st_so_far`.`mean` + (
                (
                  `__st_value` - `__st_so_far`.`mean`
                ) / (
                  `__st_so_far`.`n` + 1
                )
              ),
              's2',
              `__st_so_far`.`s2` + (
                (
                  `__st_value` - `__st_so_far`.`mean`
                ) * (
                  (
                    `__st_value` - `__st_so_far`.`mean`
                  ) - (
                    (
                      `__st_value` - `__st_so_far`.`mean`
                    ) / (
                      `__st_so_far`.`n` + 1
                    )
                  )
                )
              )
            ),
            `__st_so_far` -> CASE
              WHEN `__st_so_far`.`n` > 1
              THEN `__st_so_far`.`s2` / (
                `__st_so_far`.`n` - 1
              )
            END
          ) AS `var_samp`
        FROM `__st_step_1` AS `t`
        GROUP BY
          `device_2`
      ) AS `t`
      UNION ALL
      SELECT
        `device_2`,
        `var_samp`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `device_2`,
          aggregate(
            sort_array(collect_list(CAST((
              `level`
            ) AS DOUBLE))),
            named_struct('n', CAST(0 AS DOUBLE), 'mean', CAST(0 AS DOUBLE), 's2', CAST(0 AS DOUBLE)),
            (`__st_so_far`, `__st_value`) -> named_struct(
              'n',
              `__st_so_far`.`n` + 1,
              'mean',
              `__st_so_far`.`mean` + (
                (
                  `__st_value` - `__st_so_far`.`mean`
                ) / (
                  `__st_so_far`.`n` + 1
                )
              ),
              's2',
              `__st_so_far`.`s2` + (
                (
                  `__st_value` - `__st_so_far`.`mean`
                ) * (
                  (
                    `__st_value` - `__st_so_far`.`mean`
                  ) - (
                    (
                      `__st_value` - `__st_so_far`.`mean`
                    ) / (
                      `__st_so_far`.`n` + 1
                    )
                  )
                )
              )
            ),
            `__st_so_far` -> CASE
              WHEN `__st_so_far`.`n` > 1
              THEN `__st_so_far`.`s2` / (
                `__st_so_far`.`n` - 1
              )
            END
          ) AS `var_samp`
        FROM (
          SELECT
            `device_2`,
            `level`
          FROM (
            SELECT
              `device_2`,
              `level`,
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
          `device_2`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `device_2`,
      CAST(`var_samp` AS STRING)
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `device`,
  `__st_weight`
FROM (
  SELECT
    `device`,
    `__st_weight`
  FROM (
    SELECT
      `device`,
      `most`,
      `device_3`,
      `spread`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `device`,
        `most`,
        `device_3`,
        `spread`,
        `t1`.`__st_weight`
      FROM (
        SELECT
          `device`,
          `most`,
          `__st_weight`
        FROM `__st_changes_devices`
      ) AS `t1`
      JOIN (
        SELECT
          `device_2` AS `device_3`,
          `var_samp` AS `spread`
        FROM (
          SELECT
            `device_2`,
            aggregate(
              sort_array(collect_list(CAST((
                `level`
              ) AS DOUBLE))),
              named_struct('n', CAST(0 AS DOUBLE), 'mean', CAST(0 AS DOUBLE), 's2', CAST(0 AS DOUBLE)),
              (`__st_so_far`, `__st_value`) -> named_struct(
                'n',
                `__st_so_far`.`n` + 1,
                'mean',
                `__st_so_far`.`mean` + (
                  (
                    `__st_value` - `__st_so_far`.`mean`
                  ) / (
                    `__st_so_far`.`n` + 1
                  )
                ),
                's2',
                `__st_so_far`.`s2` + (
                  (
                    `__st_value` - `__st_so_far`.`mean`
                  ) * (
                    (
                      `__st_value` - `__st_so_far`.`mean`
                    ) - (
                      (
                        `__st_value` - `__st_so_far`.`mean`
                      ) / (
                        `__st_so_far`.`n` + 1
                      )
                    )
                  )
                )
              ),
              `__st_so_far` -> CASE
                WHEN `__st_so_far`.`n` > 1
                THEN `__st_so_far`.`s2` / (
                  `__st_so_far`.`n` - 1
                )
              END
            ) AS `var_samp`
          FROM (
            SELECT /*+ BROADCAST(`k`) */
              `t`.`device_2`,
              `t`.`level`
            FROM (
              SELECT
                `device` AS `device_2`,
                `level`
              FROM `__st_after_readings`
            ) AS `t`
            LEFT SEMI JOIN `__st_keys_1` AS `k`
              ON `t`.`device_2` = `k`.`device`
          ) AS `t`
          GROUP BY
            `device_2`
        ) AS `t`
      ) AS `t2`
        ON `device_3` = `device` AND `spread` > `most`
    ) AS `t1`
  ) AS `t`
  UNION ALL
  SELECT
    `device`,
    `__st_weight`
  FROM (
    SELECT
      `device`,
      `most`,
      `device_3`,
      `spread`,
      `__st_weight`
    FROM (
      SELECT /*+ BROADCAST(`t1`) */
        `device_3`,
        `spread`,
        `device`,
        `most`,
        `t1`.`__st_weight` * `t2`.`__st_weight` AS `__st_weight`
      FROM (
        SELECT
          `device_2` AS `device_3`,
          `var_samp` AS `spread`,
          `__st_weight`
        FROM `__st_net_2` AS `t`
      ) AS `t1`
      JOIN (
        SELECT
          `device`,
          `most`,
          CAST(1 AS BIGINT) AS `__st_weight`
        FROM (
          SELECT
            `device`,
            `most`
          FROM `__st_after_devices`
        ) AS `t`
        UNION ALL
        SELECT
          `device`,
          `most`,
          -`__st_weight` AS `__st_weight`
        FROM (
          SELECT
            `device`,
            `most`,
            `__st_weight`
          FROM `__st_changes_devices`
        ) AS `t`
      ) AS `t2`
        ON `device_3` = `device` AND `spread` > `most`
    ) AS `t1`
  ) AS `t`
) AS `t`
-- found: __st_old_1_1_devices(device, most) where device in (__st_changes_readings.device)
-- found: __st_old_1_2_readings(device, level) where device in (__st_changes_readings.device)
-- found: __st_found_1_2_readings(device, level) where device in (__st_changes_readings.device)
-- found: __st_found_1_1_readings(device, level) where device in (__st_changes_devices.device)
