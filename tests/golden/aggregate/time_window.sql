-- title: a group of a time window is found by the start of the window
-- sources: readings(id int, device int, at timestamp) key id
SELECT window, device, count(*) AS n
FROM readings
GROUP BY window(at, '10 minutes'), device
---- plan
Project named_struct('start', start_of_window, 'end', timestamp_micros(unix_micros(start_of_window) + CAST('600000000' AS BIGINT))) as window, device, count as n, start_of_window as __st_key_start_of_window  [linear]
  Aggregate by start_of_window, device: count(*) as count  [keyed]
    Project device, window.start as start_of_window  [linear]
      Project device, named_struct('start', timestamp_micros(window_start), 'end', timestamp_micros(window_start + CAST('600000000' AS BIGINT))) as window  [linear]
        Project device, moment - (((moment - CAST('0' AS BIGINT)) % CAST('600000000' AS BIGINT) + CAST('600000000' AS BIGINT)) % CAST('600000000' AS BIGINT)) as window_start  [linear]
          Filter NOT moment IS NULL  [linear]
            Project device, unix_micros(at) as moment  [linear]
              Scan readings (device, at)  [linear]
---- delta plan
Net
  Project named_struct('start', start_of_window, 'end', timestamp_micros(unix_micros(start_of_window) + CAST('600000000' AS BIGINT))) as window, device, count as n  [linear]
    Net
      Sum
        Aggregate by start_of_window, device: count(*) as count  [keyed]
          Restrict start_of_window <=> key start_of_window and device <=> key device
            Project device, window.start as start_of_window  [linear]
              Project device, named_struct('start', timestamp_micros(window_start), 'end', timestamp_micros(window_start + CAST('600000000' AS BIGINT))) as window  [linear]
                Project device, moment - (((moment - CAST('0' AS BIGINT)) % CAST('600000000' AS BIGINT) + CAST('600000000' AS BIGINT)) % CAST('600000000' AS BIGINT)) as window_start  [linear]
                  Filter NOT moment IS NULL  [linear]
                    Project device, unix_micros(at) as moment  [linear]
                      Restrict device <=> key device
                        Scan after.readings (device, at)  [linear]
                        Keys start_of_window, device (#1)
                          Project device, window.start as start_of_window  [linear]
                            Project device, named_struct('start', timestamp_micros(window_start), 'end', timestamp_micros(window_start + CAST('600000000' AS BIGINT))) as window  [linear]
                              Project device, moment - (((moment - CAST('0' AS BIGINT)) % CAST('600000000' AS BIGINT) + CAST('600000000' AS BIGINT)) % CAST('600000000' AS BIGINT)) as window_start  [linear]
                                Filter NOT moment IS NULL  [linear]
                                  Project device, unix_micros(at) as moment  [linear]
                                    Net
                                      Scan changes.readings (device, at)  [linear]
            #1
        Negate
          Aggregate by start_of_window, device: count(*) as count  [keyed]
            Restrict start_of_window <=> key start_of_window and device <=> key device
              Project device, window.start as start_of_window  [linear]
                Project device, named_struct('start', timestamp_micros(window_start), 'end', timestamp_micros(window_start + CAST('600000000' AS BIGINT))) as window  [linear]
                  Project device, moment - (((moment - CAST('0' AS BIGINT)) % CAST('600000000' AS BIGINT) + CAST('600000000' AS BIGINT)) % CAST('600000000' AS BIGINT)) as window_start  [linear]
                    Filter NOT moment IS NULL  [linear]
                      Project device, unix_micros(at) as moment  [linear]
                        Restrict device <=> key device
                          Scan before.readings (device, at)  [linear]
                          #1
              #1
---- delta sql (spark)
WITH `__st_net_1` AS (
  SELECT
    `device`,
    `at`,
    `__st_weight`
  FROM (
    SELECT
      `device`,
      `at`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `device`,
        `at`,
        `__st_weight`
      FROM `changes`.`readings`
    ) AS `t`
    GROUP BY
      `device`,
      `at`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
), `__st_keys_1` AS (
  SELECT DISTINCT
    `start_of_window`,
    `device`
  FROM (
    SELECT
      `device`,
      `window`.`start` AS `start_of_window`,
      `__st_weight`
    FROM (
      SELECT
        `device`,
        named_struct(
          'start',
          timestamp_micros(`window_start`),
          'end',
          timestamp_micros(`window_start` + CAST('600000000' AS BIGINT))
        ) AS `window`,
        `__st_weight`
      FROM (
        SELECT
          `device`,
          `moment` - (
            (
              (
                `moment` - CAST('0' AS BIGINT)
              ) % CAST('600000000' AS BIGINT) + CAST('600000000' AS BIGINT)
            ) % CAST('600000000' AS BIGINT)
          ) AS `window_start`,
          `__st_weight`
        FROM (
          SELECT
            `device`,
            `moment`,
            `__st_weight`
          FROM (
            SELECT
              `device`,
              unix_micros(`at`) AS `moment`,
              `__st_weight`
            FROM `__st_net_1` AS `t`
          ) AS `t`
          WHERE
            NOT `moment` IS NULL
        ) AS `t`
      ) AS `t`
    ) AS `t`
  ) AS `t`
), `__st_net_2` AS (
  SELECT
    `start_of_window`,
    `device`,
    `count`,
    `__st_weight`
  FROM (
    SELECT
      `start_of_window`,
      `device`,
      `count`,
      CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
    FROM (
      SELECT
        `start_of_window`,
        `device`,
        `count`,
        CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `start_of_window`,
          `device`,
          count(*) AS `count`
        FROM (
          SELECT
            `t`.`device`,
            `t`.`start_of_window`
          FROM (
            SELECT
              `device`,
              `window`.`start` AS `start_of_window`
            FROM (
              SELECT
                `device`,
                named_struct(
                  'start',
                  timestamp_micros(`window_start`),
                  'end',
                  timestamp_micros(`window_start` + CAST('600000000' AS BIGINT))
                ) AS `window`
              FROM (
                SELECT
                  `device`,
                  `moment` - (
                    (
                      (
                        `moment` - CAST('0' AS BIGINT)
                      ) % CAST('600000000' AS BIGINT) + CAST('600000000' AS BIGINT)
                    ) % CAST('600000000' AS BIGINT)
                  ) AS `window_start`
                FROM (
                  SELECT
                    `device`,
                    `moment`
                  FROM (
                    SELECT
                      `device`,
                      unix_micros(`at`) AS `moment`
                    FROM (
                      SELECT
                        `t`.`device`,
                        `t`.`at`
                      FROM (
                        SELECT
                          `device`,
                          `at`
                        FROM `after`.`readings`
                      ) AS `t`
                      LEFT SEMI JOIN `__st_keys_1` AS `k`
                        ON `t`.`device` IS NOT DISTINCT FROM `k`.`device`
                    ) AS `t`
                  ) AS `t`
                  WHERE
                    NOT `moment` IS NULL
                ) AS `t`
              ) AS `t`
            ) AS `t`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`start_of_window` IS NOT DISTINCT FROM `k`.`start_of_window`
            AND `t`.`device` IS NOT DISTINCT FROM `k`.`device`
        ) AS `t`
        GROUP BY
          `start_of_window`,
          `device`
      ) AS `t`
      UNION ALL
      SELECT
        `start_of_window`,
        `device`,
        `count`,
        -CAST(1 AS BIGINT) AS `__st_weight`
      FROM (
        SELECT
          `start_of_window`,
          `device`,
          count(*) AS `count`
        FROM (
          SELECT
            `t`.`device`,
            `t`.`start_of_window`
          FROM (
            SELECT
              `device`,
              `window`.`start` AS `start_of_window`
            FROM (
              SELECT
                `device`,
                named_struct(
                  'start',
                  timestamp_micros(`window_start`),
                  'end',
                  timestamp_micros(`window_start` + CAST('600000000' AS BIGINT))
                ) AS `window`
              FROM (
                SELECT
                  `device`,
                  `moment` - (
                    (
                      (
                        `moment` - CAST('0' AS BIGINT)
                      ) % CAST('600000000' AS BIGINT) + CAST('600000000' AS BIGINT)
                    ) % CAST('600000000' AS BIGINT)
                  ) AS `window_start`
                FROM (
                  SELECT
                    `device`,
                    `moment`
                  FROM (
                    SELECT
                      `device`,
                      unix_micros(`at`) AS `moment`
                    FROM (
                      SELECT
                        `t`.`device`,
                        `t`.`at`
                      FROM (
                        SELECT
                          `device`,
                          `at`
                        FROM `before`.`readings`
                      ) AS `t`
                      LEFT SEMI JOIN `__st_keys_1` AS `k`
                        ON `t`.`device` IS NOT DISTINCT FROM `k`.`device`
                    ) AS `t`
                  ) AS `t`
                  WHERE
                    NOT `moment` IS NULL
                ) AS `t`
              ) AS `t`
            ) AS `t`
          ) AS `t`
          LEFT SEMI JOIN `__st_keys_1` AS `k`
            ON `t`.`start_of_window` IS NOT DISTINCT FROM `k`.`start_of_window`
            AND `t`.`device` IS NOT DISTINCT FROM `k`.`device`
        ) AS `t`
        GROUP BY
          `start_of_window`,
          `device`
      ) AS `t`
    ) AS `t`
    GROUP BY
      `start_of_window`,
      `device`,
      `count`
  ) AS `s`
  WHERE
    `__st_weight` <> 0
)
SELECT
  `window`,
  `device`,
  `n`,
  `__st_weight`
FROM (
  SELECT
    any_value(`window`) AS `window`,
    `device`,
    `n`,
    CAST(sum(`__st_weight`) AS BIGINT) AS `__st_weight`
  FROM (
    SELECT
      named_struct(
        'start',
        `start_of_window`,
        'end',
        timestamp_micros(unix_micros(`start_of_window`) + CAST('600000000' AS BIGINT))
      ) AS `window`,
      `device`,
      `count` AS `n`,
      `__st_weight`
    FROM `__st_net_2` AS `t`
  ) AS `t`
  GROUP BY
    to_json(
      named_struct('v', `window`),
      map(
        'timestampFormat',
        'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSSXXX',
        'timestampNTZFormat',
        'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSS'
      )
    ),
    `device`,
    `n`
) AS `s`
WHERE
  `__st_weight` <> 0
---- maintenance
-- stored-state: every aggregate at the root follows from sums and counts, which add up
-- stored: window struct<start:timestamp,end:timestamp>, device int, n bigint, __st_key_start_of_window timestamp, __st_rows bigint
-- answer
SELECT
  `start_of_window`,
  `device`,
  CAST(coalesce(`__st_rows`, CAST(0 AS BIGINT)) AS BIGINT) AS `__st_rows`
FROM (
  SELECT
    `start_of_window`,
    `device`,
    sum(`__st_weight`) AS `__st_rows`
  FROM (
    SELECT
      `device`,
      `start_of_window`,
      `__st_weight`
    FROM (
      SELECT
        `device`,
        `start_of_window`,
        `__st_sign` AS `__st_weight`
      FROM (
        SELECT
          `device`,
          `start_of_window`,
          CAST(sign(`__st_weight`) AS BIGINT) AS `__st_sign`,
          explode(sequence(CAST(1 AS BIGINT), CAST(abs(`__st_weight`) AS BIGINT))) AS `__st_n`
        FROM (
          SELECT
            `device`,
            `window`.`start` AS `start_of_window`,
            `__st_weight`
          FROM (
            SELECT
              `device`,
              named_struct(
                'start',
                timestamp_micros(`window_start`),
                'end',
                timestamp_micros(`window_start` + CAST('600000000' AS BIGINT))
              ) AS `window`,
              `__st_weight`
            FROM (
              SELECT
                `device`,
                `moment` - (
                  (
                    (
                      `moment` - CAST('0' AS BIGINT)
                    ) % CAST('600000000' AS BIGINT) + CAST('600000000' AS BIGINT)
                  ) % CAST('600000000' AS BIGINT)
                ) AS `window_start`,
                `__st_weight`
              FROM (
                SELECT
                  `device`,
                  `moment`,
                  `__st_weight`
                FROM (
                  SELECT
                    `device`,
                    unix_micros(`at`) AS `moment`,
                    `__st_weight`
                  FROM (
                    SELECT
                      `device`,
                      `at`,
                      `__st_weight`
                    FROM `__st_changes_readings`
                  ) AS `t`
                ) AS `t`
                WHERE
                  NOT `moment` IS NULL
              ) AS `t`
            ) AS `t`
          ) AS `t`
        ) AS `t`
        WHERE
          `__st_weight` <> 0
      ) AS `s`
    ) AS `t`
  ) AS `t`
  GROUP BY
    `start_of_window`,
    `device`
) AS `t`
