-- The index of ids begins with them (decision 0055): ids rise with time, so a new one goes to its end, and not to a page of its own for each
-- user. Everything is found as before, also by nodes of the version before. Writes of notifications wait until the index is complete.
-- SQLite's migration of this name changes more: PostgreSQL keeps its columns, so that nodes of two versions can work on them.
drop index notification_by_id;
create unique index notification_by_id on notification (id, user_id);
