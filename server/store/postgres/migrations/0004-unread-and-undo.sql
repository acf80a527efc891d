-- A notification at or below the high-water mark that the user marked as unread (decision 0029): it is unread while its unread_version is not
-- below the inbox's read_version, the version of the last read-all. Thus a read-all still changes no notification.
alter table notification add column unread_version bigint;
create index notification_marked_unread on notification (user_id, unread_version, seq) where unread_version is not null;

-- marked_unread: how many such notifications are unread. undo_version: the last read-all if it can be undone. reset_version: the last undo.
alter table inbox add column read_version bigint not null default 0;
alter table inbox add column marked_unread bigint not null default 0;
alter table inbox add column undo_version bigint;
alter table inbox add column reset_version bigint not null default 0;

-- What an undo restores: read_through and read_version as they were before this read-all, and how many notifications it made read that an
-- undo would make unread, in all and by category.
alter table read_mark add column before_through bigint not null default 0;
alter table read_mark add column before_version bigint not null default 0;
alter table read_mark add column made_read bigint not null default 0;
alter table inbox_category add column made_read bigint not null default 0;

-- A read-all that changed only notifications marked as unread does not raise the high-water mark, and is no one's first readAt.
drop index read_mark_by_seq;
create unique index read_mark_by_seq on read_mark (user_id, through_seq) include (at) where through_seq > before_through;

-- For lists by category and of read notifications (decision 0030), in the order of a list.
create index notification_unread_by_category on notification (user_id, category, seq)
  where read_at is null and category is not null;
create index notification_read_by_category on notification (user_id, category, seq)
  where read_at is not null and category is not null;
create index notification_read on notification (user_id, seq) where read_at is not null;
