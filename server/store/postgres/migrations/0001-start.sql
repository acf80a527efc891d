-- The first schema. It has the same tables and columns as SQLite's, so that rows can be transferred between the engines. Every
-- key of an inbox begins with user_id, and the tables of users are hash-partitioned by it, so that a hot statement touches
-- one partition. Only the username is unique across users. Times are milliseconds since 1970, except those that are sent as
-- they are stored (read_at, read_mark.at): ISO 8601 text.

create table "user" (
  id text collate "C" primary key,
  username text collate "C" not null unique,
  display_name text,
  password_hash text not null,
  created_at bigint not null,
  disabled_at bigint
);

create table signing_key (
  kid text collate "C" primary key,
  public_jwk text not null,
  sealed_private_jwk text not null,
  created_at bigint not null
);

create table producer (
  id text collate "C" primary key,
  name text not null,
  secret_hash text not null,
  scopes text not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);

-- The outcome of each Idempotency-Key. `answer` is null only inside the transaction that delivers.
create table delivery (
  producer_id text collate "C" not null,
  idempotency_key text collate "C" not null,
  body_hash text not null,
  answer text,
  at bigint not null,
  primary key (producer_id, idempotency_key)
);
create index delivery_by_time on delivery (at);

create table token_cutoff (
  user_id text collate "C" not null,
  sign_in_id text collate "C" not null,
  not_before bigint not null,
  expires_at bigint not null,
  primary key (user_id, sign_in_id)
);
create index token_cutoff_by_expiry on token_cutoff (expires_at);

-- Only the SHA-256 of the cookie's secret is stored. A disabled user has no session, so a lookup needs no other table.
-- Usernames never change.
create table session (
  user_id text collate "C" not null,
  secret_hash text collate "C" not null,
  username text not null,
  created_at bigint not null,
  last_seen_at bigint not null,
  primary key (user_id, secret_hash)
) partition by hash (user_id);

create table inbox (
  user_id text collate "C" primary key,
  version bigint not null,
  first_seq bigint not null,
  last_seq bigint not null,
  total bigint not null,
  unread bigint not null,
  read_through bigint not null
) partition by hash (user_id);

create table inbox_category (
  user_id text collate "C" not null,
  category text collate "C" not null,
  total bigint not null,
  unread bigint not null,
  primary key (user_id, category)
) partition by hash (user_id);

-- `version` is the inbox's version when the notification arrived: it rises with seq and never changes. changed_version is that
-- of the last change since, replaced_version that of the last change that replaced the content.
create table notification (
  user_id text collate "C" not null,
  seq bigint not null,
  id text collate "C" not null,
  version bigint not null,
  content text not null,
  category text collate "C",
  key text collate "C",
  read_at text,
  changed_version bigint,
  replaced_version bigint,
  primary key (user_id, seq)
) partition by hash (user_id);
create unique index notification_by_id on notification (user_id, id);
create unique index notification_by_key on notification (user_id, key) where key is not null;
create index notification_changed on notification (user_id, changed_version) where changed_version is not null;
create index notification_unread on notification (user_id, seq) include (category) where read_at is null;

-- One row for each read-all that changed something: everything up to through_seq was read at that time.
create table read_mark (
  user_id text collate "C" not null,
  version bigint not null,
  through_seq bigint not null,
  at text not null,
  primary key (user_id, version)
) partition by hash (user_id);
create unique index read_mark_by_seq on read_mark (user_id, through_seq) include (at);

do $$
declare
  partitioned text;
begin
  foreach partitioned in array array['session', 'inbox', 'inbox_category', 'notification', 'read_mark'] loop
    for part in 0 .. {{partitions}} - 1 loop
      execute format(
        'create table %I partition of %I for values with (modulus {{partitions}}, remainder %s)',
        partitioned || '_' || part, partitioned, part
      );
    end loop;
  end loop;
end $$;
