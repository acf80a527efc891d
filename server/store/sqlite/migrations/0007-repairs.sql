-- What the repairs of the joints between the parts store: see the decisions 0062 and later.

-- A user has up to three links of a purpose: a new one must not take away the one that the user has just received.
alter table one_time_link rename to one_time_link_before;
create table one_time_link (
  user_id text not null,
  purpose text not null,
  token_hash text not null,
  -- Later than that of the links before it.
  created_at integer not null,
  expires_at integer not null,
  -- The address that it was sent to, which its use verifies; null if an application or an operator passes it on.
  email text,
  primary key (user_id, purpose, token_hash)
) without rowid, strict;
insert into one_time_link select * from one_time_link_before;
drop table one_time_link_before;
create index one_time_link_by_hash on one_time_link (token_hash);

-- The secrets of a session before its present one, the newest first, and when the present one was first used (decision 0063).
alter table session add column old_hash_1 text;
alter table session add column old_hash_2 text;
alter table session add column old_hash_3 text;
alter table session add column secret_used_at integer;

-- Applications: a key may belong to one. Its users have the application before their issuer, with U+0001 in between.
alter table producer add column application text not null default '';
create index user_of_application on user (substr(issuer, 1, instr(issuer, char(1))), id) where instr(issuer, char(1)) > 0;

-- A read-all of some categories (decision 0069): a row for each, with the sequence number up to which it covers the category. categories: a JSON
-- array of names; null if the read-all covered everything. category_through: where the read-all of a category that reached furthest ended.
create table category_read_mark (
  user_number integer not null,
  category text not null,
  through_seq integer not null,
  version integer not null,
  at text not null,
  primary key (user_number, category, through_seq, version)
) without rowid, strict;
alter table read_mark add column categories text;
alter table inbox add column category_through integer not null default 0;
-- Without what a read-all of its category covers. Only for writes: a list says which index it uses, which is not possible here.
create view uncovered_notification as select * from notification n where not exists (
  select 1 from category_read_mark m
  where m.user_number = n.user_number and m.category = n.category and m.through_seq >= n.seq
    and m.version > coalesce(n.unread_version, -1)
);
