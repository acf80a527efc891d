-- The index of ids begins with them (decision 0055): ids rise with time, so a new one goes to its end, and not to a page of its own for each
-- user. Everything is found as before, also by nodes of the version before. Writes of notifications wait until the index is complete;
-- reads wait for the exchange of the two indexes only.
-- SQLite's migration of this name changes more: PostgreSQL keeps its columns, so that nodes of two versions can work on them.

-- Takes the lock that the exchange needs, and releases it: behind a long transaction, such as a backup, the migration fails now and not
-- after each time that it has built the index.
-- Not on Citus, where a part of a transaction on several nodes cannot simply be taken back.
do $$ begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then return; end if;
  lock table notification in access exclusive mode;
  raise sqlstate 'CA003';
exception when sqlstate 'CA003' then null;
end $$;
create unique index new_notification_by_id on notification (id, user_id);
drop index notification_by_id;
alter index new_notification_by_id rename to notification_by_id;
