-- Distributes Carillon's tables over the nodes of a Citus cluster: the tables of users by user_id, colocated, and a copy of
-- the others on every node. Run it with psql on the coordinator while no Carillon process runs; docs/scale.md says when to
-- use it and what changes. Without Citus it changes nothing and says so. If it runs again, it does only what is missing.
do $$
declare
  -- These stay on the coordinator, where the migrations run and to which every process connects.
  ledger constant text[] := array['history', 'kysely_migration', 'kysely_migration_lock'];
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

  -- One connection to each node: Citus refuses to create a distributed function in a transaction that used several.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);

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

  -- These functions touch the rows of one user only, so the node that has the rows can run them completely.
  perform create_distributed_function('mark_read(text,text,text)', 'of_user', colocate_with => 'inbox');
  perform create_distributed_function('leave_undo(text,bigint,text)', 'of_user', colocate_with => 'inbox');
  perform create_distributed_function('is_covered_by_category(inbox,notification,bigint)');
  perform create_distributed_function('is_unread_now(inbox,notification)');
  perform create_distributed_function('made_read_at(inbox,notification)');
  perform create_distributed_function('marked_after(inbox,bigint)');
  perform create_distributed_function(
    'mark_categories_read(text,text[],text,bigint,text)', 'of_user', colocate_with => 'inbox');
  perform create_distributed_function('mark_unread(text,text)', 'of_user', colocate_with => 'inbox');
  perform create_distributed_function('undo_read_all(text,text)', 'of_user', colocate_with => 'inbox');
  perform create_distributed_function('mark_read_through(text,text,bigint,text)', 'of_user', colocate_with => 'inbox');
end $$;
