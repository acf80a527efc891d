-- Smaller rows and fewer pages for each change (decision 0054). A user has a number, which is never given again, and the tables of inboxes
-- have it in place of the id. The index of ids begins with them: ids rise with time, so a new one goes to its end. The content has
-- columns of its own, without names that every content has (content.ts). The counts of an inbox's categories lie beside the inbox.
--
-- The rows stay in the tables old_*, with their indexes dropped, until upgrade/move-rows.ts has moved them, a few thousand at a time; then
-- the tables old_* are dropped. An older program refuses the database from now on.

-- Exists until all rows are moved. Counted here, while the indexes exist, which are smaller than the tables.
create table carillon_upgrade (name text primary key, total integer not null, moved integer not null default 0) strict;
insert into carillon_upgrade (name, total) values
  ('user', (select count(*) from user)),
  ('inbox', (select count(*) from inbox)),
  ('inbox_category', (select count(*) from inbox_category)),
  ('notification', (select count(*) from notification)),
  ('read_mark', (select count(*) from read_mark));

alter table user rename to old_user;
drop index user_by_external_id;
drop index user_by_email;
create table user (
  number integer primary key autoincrement,
  id text not null unique,
  username text unique,
  display_name text,
  password_hash text,
  created_at integer not null,
  disabled_at integer,
  credential_generation integer not null default 0,
  external_id text,
  issuer text not null default '',
  locale text,
  email text,
  issued_generation integer not null default 0,
  email_verified_at integer,
  device_generation integer not null default 0,
  password_reported_at integer
) strict;
create unique index user_by_external_id on user (external_id, issuer) where external_id is not null;
create index user_by_email on user (lower(email), id) where email is not null;

-- The row with category '' is the inbox itself; any other has the counts of that category, and null in the columns from version on.
-- made_read is of a category: how many notifications of it an undo of the last read-all makes unread.
alter table inbox rename to old_inbox;
alter table inbox_category rename to old_inbox_category;
create table inbox (
  user_number integer not null,
  category text not null,
  total integer not null,
  unread integer not null,
  made_read integer not null default 0,
  version integer,
  first_seq integer,
  last_seq integer,
  read_through integer,
  read_version integer,
  marked_unread integer,
  undo_version integer,
  reset_version integer,
  primary key (user_number, category)
) without rowid, strict;

alter table notification rename to old_notification;
drop index notification_by_id;
drop index notification_by_key;
drop index notification_changed;
drop index notification_unread;
drop index notification_unread_by_category;
drop index notification_read_by_category;
drop index notification_read;
drop index notification_marked_unread;
create table notification (
  user_number integer not null,
  seq integer not null,
  id text not null,
  version integer not null,
  content text not null,
  data text,
  created_at text not null,
  category text,
  key text,
  read_at text,
  changed_version integer,
  replaced_version integer,
  count integer not null default 1,
  updated_at text,
  unread_version integer,
  primary key (user_number, seq)
) without rowid, strict;
-- upgrade/move-rows.ts creates notification_by_id at its end: the rows come in the order of users, so their ids would be inserted all over it.
create unique index notification_by_key on notification (user_number, key) where key is not null;
create index notification_changed on notification (user_number, changed_version) where changed_version is not null;
create index notification_marked_unread on notification (user_number, unread_version) where unread_version is not null;
-- The indexes of lists contain read_at, so that passing over notifications reads only the index.
create index notification_unread on notification (user_number, seq, read_at) where read_at is null;
create index notification_read on notification (user_number, seq, read_at) where read_at is not null;
create index notification_unread_by_category on notification (user_number, category, seq, read_at)
  where read_at is null and category is not null;
create index notification_read_by_category on notification (user_number, category, seq, read_at)
  where read_at is not null and category is not null;

alter table read_mark rename to old_read_mark;
drop index read_mark_by_seq;
create table read_mark (
  user_number integer not null,
  version integer not null,
  through_seq integer not null,
  at text not null,
  before_through integer not null default 0,
  before_version integer not null default 0,
  made_read integer not null default 0,
  primary key (user_number, version)
) without rowid, strict;
create unique index read_mark_by_seq on read_mark (user_number, through_seq, at, before_through) where through_seq > before_through;
