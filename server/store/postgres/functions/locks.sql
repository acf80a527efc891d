-- What makes calls take turns on Citus, which copies the tables without a user_id to every node: a row lock locks the whole copy on each node.

-- Two callers that upgrade such a lock would deadlock. So all changes of users take turns there.
create or replace function lock_users() returns void language plpgsql as $$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    perform pg_advisory_xact_lock(hashtext('carillon users'));
  end if;
end $$;

-- An update of "delivery" locks the whole copy. A delivery with an idempotency key writes to it before it locks an inbox, and an erasure
-- (server/users/erasure.store.ts) after that. So an erasure waits for these deliveries first, or both would deadlock.
create or replace function lock_outcomes() returns void language plpgsql as $$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    perform pg_advisory_xact_lock_shared(hashtext('carillon outcomes'));
  end if;
end $$;
