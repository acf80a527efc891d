-- Guesses of passwords, codes and links: guess_count has a row for each key that is counted. sqlite/guess-limits.ts has the same rules,
-- in the same order.

-- The keys that refuse a guess at this moment, each with the moment from which on it accepts one.
create or replace function guess_refusals(
  count_keys text[], delays bigint[], kept bigint, rate_keys text[], steps bigint[], bursts bigint[], leeway bigint,
  moment bigint
) returns jsonb language plpgsql as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('key', key, 'notBefore', not_before)), '[]')
    from (
      select g.key, coalesce(g.at + (g.failures - rate.burst + 1) * rate.step,
        g.at + nullif(delays[least(g.failures + 1, cardinality(delays))], 0)) as not_before
      from guess_count g left join unnest(rate_keys, steps, bursts) as rate (key, step, burst) on rate.key = g.key
      where g.key = any (count_keys || rate_keys) and g.expires_at > moment and g.at <= moment + leeway
    ) as live
    where not_before > moment
  );
end $$;

-- Counts a guess under every key, or returns the keys that refuse it. The rows are locked in the order of their keys, so that two
-- guesses never wait for each other; clear_guesses does the same.
create or replace function reserve_guess(
  count_keys text[], delays bigint[], kept bigint, rate_keys text[], steps bigint[], bursts bigint[], leeway bigint,
  moment bigint
) returns jsonb language plpgsql as $$
declare
  all_keys constant text[] := array(select k from unnest(count_keys || rate_keys) k order by k collate "C");
  refusals jsonb := guess_refusals(count_keys, delays, kept, rate_keys, steps, bursts, leeway, moment);
  one text;
begin
  -- Without a lock first: a refused guess writes nothing.
  if refusals <> '[]' then return refusals; end if;
  foreach one in array all_keys loop
    insert into guess_count (key, failures, at, expires_at) values (one, 0, moment, moment) on conflict do nothing;
    perform 1 from guess_count where key = one for update;
  end loop;
  refusals := guess_refusals(count_keys, delays, kept, rate_keys, steps, bursts, leeway, moment);
  if refusals <> '[]' then return refusals; end if;
  foreach one in array all_keys loop
    perform count_guess(one, steps[array_position(rate_keys, one)], kept, leeway, moment);
  end loop;
  return refusals;
end $$;

-- `step` is null if the key has no rate. The insert finds the row that is locked, unless a right guess has removed it since.
create or replace function count_guess(of_key text, step bigint, kept bigint, leeway bigint, moment bigint)
returns void language plpgsql as $$
declare
  before_failures bigint := 0;
  since bigint := moment;
begin
  select failures, at into before_failures, since from guess_count
    where key = of_key and expires_at > moment and at <= moment + leeway;
  if not found then
    before_failures := 0;
    since := moment;
  elsif step is null then
    since := greatest(since, moment);
  else
    before_failures := before_failures - greatest(0, (moment - since) / step);
    since := since + greatest(0, (moment - since) / step) * step;
  end if;
  insert into guess_count as g (key, failures, at, expires_at)
    values (of_key, before_failures + 1, since, since + coalesce((before_failures + 1) * step, kept))
    on conflict (key) do update set failures = excluded.failures, at = excluded.at, expires_at = excluded.expires_at;
end $$;

create or replace function clear_guesses(count_keys text[], rate_keys text[], steps bigint[])
returns void language plpgsql as $$
declare
  one text;
begin
  for one in select k from unnest(count_keys || rate_keys) k order by k collate "C" loop
    if one = any (rate_keys) then
      update guess_count set failures = failures - 1, expires_at = expires_at - steps[array_position(rate_keys, one)]
        where key = one;
      delete from guess_count where key = one and failures <= 0;
    else
      delete from guess_count where key = one;
    end if;
  end loop;
end $$;

create or replace function forget_guesses(prefix text, audit_entries jsonb) returns boolean language plpgsql as $$
begin
  delete from guess_count where key >= prefix and key < prefix || U&'\+10FFFF';
  if not found then return false; end if;
  perform record_audit(audit_entries);
  return true;
end $$;
