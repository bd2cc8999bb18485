{{ config(schedule='calculated') }}
select region, total from {{ ref('revenue') }} where total > 5
