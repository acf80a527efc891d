-- Distributes the tables over a Citus cluster: those of users by user_id, a copy of others on every
-- node. Run it with psql on the coordinator while no Carillon process runs (docs/scale/citus.md).
-- Run again, it does what is missing.
do $$
declare
  -- These stay on the coordinator, to which every process connects.
  ledger constant text[] := array['history', 'migration', 'outbox', 'push_subscription'];
  one record;
  parts bigint;
begin
  if to_regclass('inbox') is null or to_regclass('notification') is null then
    raise exception 'This database has no tables of Carillon: run carillon migrate first';
  end if;
  if not exists (select from pg_proc where proname = 'create_distributed_table') then
    raise notice 'Citus is not in this database (create extension citus); nothing was changed';
    return;
  end if;

  select count(*) into parts from pg_inherits where inhparent = 'notification'::regclass;
  if parts > 1 then
    raise warning 'Each shard will have % partitions of its own: one is enough (CARILLON_DATABASE_PARTITIONS=1)', parts;
  end if;

  for one in
    select c.oid::regclass as name, c.relname = 'inbox' as is_first, exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped
    ) as is_of_users
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> all (ledger) and not exists (select from pg_dist_partition d where d.logicalrelid = c.oid)
    order by is_first desc, c.relname
  loop
    if one.is_first then
      perform create_distributed_table(one.name, 'user_id', colocate_with => 'none');
    elsif one.is_of_users then
      perform create_distributed_table(one.name, 'user_id', colocate_with => 'inbox');
    else
      perform create_reference_table(one.name);
    end if;
    raise notice '% is %', one.name, case when one.is_of_users then 'spread by user_id' else 'on every node' end;
  end loop;
end $$;
