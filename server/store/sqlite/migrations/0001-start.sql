-- The first schema. Every key of an inbox begins with user_id; WITHOUT ROWID stores the rows of an inbox side by side.
-- Times are milliseconds since 1970, except read_at of a notification and at of a read_mark, which are sent as they are stored: ISO 8601 text.

create table user (
  id text primary key,
  username text not null unique,
  display_name text,
  password_hash text not null,
  created_at integer not null,
  disabled_at integer
) without rowid, strict;

-- Stores only the SHA-256 of the cookie's secret. A disabled user has no session, so a look-up reads no user; the username can be
-- copied because it never changes.
create table session (
  user_id text not null,
  secret_hash text not null,
  username text not null,
  created_at integer not null,
  last_seen_at integer not null,
  primary key (user_id, secret_hash)
) without rowid, strict;

-- A row with sign_in_id '' revokes every sign-in of the user up to not_before; any other revokes that one sign-in.
create table token_cutoff (
  user_id text not null,
  sign_in_id text not null,
  not_before integer not null,
  expires_at integer not null,
  primary key (user_id, sign_in_id)
) without rowid, strict;
create index token_cutoff_by_expiry on token_cutoff (expires_at);

create table signing_key (
  kid text primary key,
  public_jwk text not null,
  sealed_private_jwk text not null,
  created_at integer not null
) without rowid, strict;

create table producer (
  id text primary key,
  name text not null,
  secret_hash text not null,
  scopes text not null,
  created_at integer not null,
  expires_at integer,
  revoked_at integer,
  last_used_at integer
) without rowid, strict;

-- The outcome of each delivery with an Idempotency-Key, so that a retry gets the same response and has no second effect.
create table delivery (
  producer_id text not null,
  idempotency_key text not null,
  body_hash text not null,
  answer text not null,
  at integer not null,
  primary key (producer_id, idempotency_key)
) without rowid, strict;
create index delivery_by_time on delivery (at);

create table inbox (
  user_id text primary key,
  version integer not null,
  first_seq integer not null,
  last_seq integer not null,
  total integer not null,
  unread integer not null,
  read_through integer not null
) without rowid, strict;

create table inbox_category (
  user_id text not null,
  category text not null,
  total integer not null,
  unread integer not null,
  primary key (user_id, category)
) without rowid, strict;

-- `version` is the inbox's version when the notification arrived: it rises with seq and never changes. A notification that changed
-- later has the version of its last change, and of the last change that replaced its content.
create table notification (
  user_id text not null,
  seq integer not null,
  id text not null,
  version integer not null,
  content text not null,
  category text,
  key text,
  read_at text,
  changed_version integer,
  replaced_version integer,
  primary key (user_id, seq)
) without rowid, strict;
create unique index notification_by_id on notification (user_id, id);
create unique index notification_by_key on notification (user_id, key) where key is not null;
create index notification_changed on notification (user_id, changed_version) where changed_version is not null;
-- Contains read_at, which is always null here, so that passing over unread notifications reads only this index.
create index notification_unread on notification (user_id, seq, category, read_at) where read_at is null;

-- One row per read-all that changed something: every notification up to through_seq was read at that time.
create table read_mark (
  user_id text not null,
  version integer not null,
  through_seq integer not null,
  at text not null,
  primary key (user_id, version)
) without rowid, strict;
create unique index read_mark_by_seq on read_mark (user_id, through_seq, at);
