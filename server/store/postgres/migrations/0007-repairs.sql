-- locks: one_time_link, producer, session, user, inbox, read_mark
-- What the repairs of the joints between the parts store: see the decisions 0062 and later.

-- A user has up to three links of a purpose: a new one must not take away the one that the user has just received.
alter table one_time_link drop constraint one_time_link_pkey;
alter table one_time_link add constraint one_time_link_pkey primary key (user_id, purpose, token_hash);

-- Which history of changes this database continues (decision 0068): the number of the row without a node is the moment at which it began. The
-- other rows have the numbers of the processes that write. It is not transferred: pg_restore creates the table again, with another object id.
create table history (
  node text collate "C" primary key,
  number bigint not null,
  raised_at bigint not null
);
insert into history values ('', extract(epoch from clock_timestamp()) * 1000, 0);

-- The secrets of a session before its present one, the newest first, and when the present one was first used (decision 0063).
alter table session add column old_hash_1 text;
alter table session add column old_hash_2 text;
alter table session add column old_hash_3 text;
alter table session add column secret_used_at bigint;

-- Applications: a key may belong to one. Its users have the application before their issuer, with U+0001 in between.
alter table producer add column application text not null default '';
create index concurrently user_of_application on "user" (substr(issuer, 1, strpos(issuer, chr(1))), id) where strpos(issuer, chr(1)) > 0;

-- A read-all of some categories (decision 0069): a row for each, with the sequence number up to which it covers the category. categories: a JSON
-- array of names; null if the read-all covered everything. category_through: where the read-all of a category that reached furthest ended.
create table category_read_mark (
  user_id text collate "C" not null,
  category text collate "C" not null,
  through_seq bigint not null,
  version bigint not null,
  at text not null,
  primary key (user_id, category, through_seq, version)
);
alter table read_mark add column categories text;
alter table inbox add column category_through bigint not null default 0;
