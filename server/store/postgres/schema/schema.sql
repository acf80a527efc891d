-- The tables of a PostgreSQL database: those of SQLite, with the same columns in the same order, and the table `history`. What they mean
-- stands in sqlite/schema/schema.sql, once for both. Decision 0073 says how a later change of them is made. The functions are in functions/.
--
-- The tables of users are hash-partitioned by user_id, so that a hot statement touches one partition. The text of a key has the collation
-- "C", which orders it by its bytes, as SQLite does.

create table "user" (
  id text collate "C" primary key,
  username text collate "C" unique,
  display_name text,
  password_hash text,
  created_at bigint not null,
  disabled_at bigint,
  credential_generation bigint not null default 0,
  external_id text collate "C",
  issuer text collate "C" not null default '',
  locale text,
  email text,
  issued_generation bigint not null default 0,
  email_verified_at bigint,
  device_generation bigint not null default 0,
  password_reported_at bigint
);
create unique index user_by_external_id on "user" (external_id, issuer) where external_id is not null;
-- Users can share an address. In the collation "C", lower() changes ASCII letters only.
create index user_by_email on "user" (lower(email collate "C")) where email is not null;
create index user_of_application on "user" (substr(issuer, 1, strpos(issuer, chr(1))), id) where strpos(issuer, chr(1)) > 0;

create table provider_account (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  owner_id text collate "C" not null,
  email text,
  created_at bigint not null,
  last_used_at bigint not null,
  primary key (issuer, subject)
);
create index provider_account_by_owner on provider_account (owner_id);

create table session (
  user_id text collate "C" not null,
  secret_hash text collate "C" not null,
  username text not null,
  created_at bigint not null,
  last_seen_at bigint not null,
  sign_in_id text not null,
  device text,
  address text,
  confirmed_at bigint,
  has_tokens bigint not null,
  old_hash_1 text,
  old_hash_2 text,
  old_hash_3 text,
  secret_used_at bigint,
  primary key (user_id, secret_hash)
) partition by hash (user_id);

create table token_cutoff (
  user_id text collate "C" not null,
  sign_in_id text collate "C" not null,
  expires_at bigint not null,
  first_generation bigint not null default 0,
  except_sign_in_id text,
  primary key (user_id, sign_in_id)
);
create index token_cutoff_by_expiry on token_cutoff (expires_at);

create table signing_key (
  kid text collate "C" primary key,
  public_jwk text not null,
  sealed_private_jwk text not null,
  created_at bigint not null,
  starts_at bigint not null,
  retired_at bigint
);

create table inbox (
  user_id text collate "C" primary key,
  version bigint not null,
  first_seq bigint not null,
  last_seq bigint not null,
  total bigint not null,
  unread bigint not null,
  read_through bigint not null,
  read_version bigint not null default 0,
  marked_unread bigint not null default 0,
  undo_version bigint,
  reset_version bigint not null default 0,
  category_through bigint not null default 0,
  archived bigint not null default 0,
  snoozed bigint not null default 0,
  archive_through bigint not null default 0,
  archive_version bigint not null default 0,
  seen_through bigint not null default 0,
  seen_version bigint not null default 0,
  unseen bigint not null default 0,
  mutes bigint not null default 0
) partition by hash (user_id);

create table inbox_category (
  user_id text collate "C" not null,
  category text collate "C" not null,
  total bigint not null,
  unread bigint not null,
  made bigint not null default 0,
  archived bigint not null default 0,
  snoozed bigint not null default 0,
  primary key (user_id, category)
) partition by hash (user_id);

create table notification (
  user_id text collate "C" not null,
  seq bigint not null,
  id text collate "C" not null,
  version bigint not null,
  title text not null,
  body text,
  url text,
  category text collate "C",
  data text,
  key text collate "C",
  application text collate "C" not null default '',
  created_at text not null,
  updated_at text,
  count bigint not null default 1,
  read_at text,
  unread_version bigint,
  changed_version bigint,
  replaced_version bigint,
  away text,
  away_at text,
  kept_version bigint,
  expires_at text,
  look text,
  producer bigint,
  primary key (user_id, seq)
) partition by hash (user_id);
-- Ids rise with time, so a new one goes to the end of the index (decision 0055).
create unique index notification_by_id on notification (id, user_id);
create unique index notification_by_key on notification (key, application, user_id) where key is not null;
create index notification_changed on notification (user_id, changed_version) where changed_version is not null;
create index notification_marked_unread on notification (user_id, unread_version, seq) where unread_version is not null;
create index notification_unread on notification (user_id, seq) include (category) where read_at is null and kept_version is null;
create index notification_read on notification (user_id, seq)
  where read_at is not null and away is null and kept_version is null;
create index notification_unread_by_category on notification (user_id, category, seq)
  where read_at is null and kept_version is null;
create index notification_read_by_category on notification (user_id, category, seq)
  where read_at is not null and away is null and category is not null and kept_version is null;
create index notification_away on notification (user_id, away, seq) where away is not null;
create index notification_away_by_category on notification (user_id, away, category, seq) where away is not null and category is not null;
create index notification_kept_unread on notification (user_id, kept_version, seq) where kept_version is not null and read_at is null;
create index notification_kept_read on notification (user_id, kept_version, seq) where kept_version is not null and read_at is not null;
create index notification_to_wake on notification (away_at) where away = 'snoozed';
create index notification_by_expiry on notification (expires_at) where expires_at is not null;

create table read_mark (
  user_id text collate "C" not null,
  version bigint not null,
  through_seq bigint not null,
  at text not null,
  before_through bigint not null,
  before_version bigint not null,
  made_read bigint not null,
  categories text,
  primary key (user_id, version)
) partition by hash (user_id);
create unique index read_mark_by_seq on read_mark (user_id, through_seq) include (at) where through_seq > before_through;

create table category_read_mark (
  user_id text collate "C" not null,
  category text collate "C" not null,
  through_seq bigint not null,
  version bigint not null,
  at text not null,
  primary key (user_id, category, through_seq, version)
);

create table archive_mark (
  user_id text collate "C" not null,
  version bigint not null,
  through_seq bigint not null,
  at text not null,
  before_through bigint not null,
  before_version bigint not null,
  made bigint not null,
  made_unseen bigint not null,
  primary key (user_id, version)
);
create index archive_mark_by_seq on archive_mark (user_id, through_seq, version, at);

create table removal (
  user_id text collate "C" not null,
  version bigint not null,
  id text not null,
  at text not null,
  reason text not null,
  primary key (user_id, version)
);
create index removal_by_time on removal (at);

create table preference (
  user_id text collate "C" not null,
  category text collate "C" not null,
  muted_until text not null,
  primary key (user_id, category)
);

create table category (
  application text collate "C" not null,
  name text collate "C" not null,
  label text not null,
  description text,
  mandatory bigint not null,
  primary key (application, name)
);

create table key_change (
  id text collate "C" primary key,
  application text collate "C" not null,
  key text collate "C" not null,
  kind text not null,
  given text,
  producer bigint,
  at bigint not null,
  after_user text collate "C" not null
);

create table producer (
  id text collate "C" primary key,
  name text not null,
  secret_hash text not null,
  scopes text not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint,
  previous_secret_hash text,
  previous_until bigint,
  application text not null,
  number bigint not null unique
);

create table delivery (
  producer_id text collate "C" not null,
  idempotency_key text collate "C" not null,
  body_hash text not null,
  answer text not null,
  at bigint not null,
  primary key (producer_id, idempotency_key)
);
create index delivery_by_time on delivery (at);

create table known_device (
  user_id text collate "C" not null,
  label text collate "C" not null,
  network text collate "C" not null,
  first_seen_at bigint not null,
  last_seen_at bigint not null,
  primary key (user_id, label, network)
);

create table guess_count (
  key text collate "C" primary key,
  failures bigint not null,
  at bigint not null,
  expires_at bigint not null
);
create index guess_count_by_expiry on guess_count (expires_at);

create table one_time_link (
  user_id text collate "C" not null,
  purpose text collate "C" not null,
  token_hash text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null,
  email text,
  primary key (user_id, purpose, token_hash)
);
create index one_time_link_by_hash on one_time_link (token_hash);

create table factor (
  user_id text collate "C" not null,
  id text collate "C" not null,
  kind text collate "C" not null,
  label text collate "C" not null,
  sealed_secret text,
  last_step bigint,
  credential_id text collate "C",
  public_key text,
  sign_count bigint,
  transports text,
  created_at bigint not null,
  confirmed_at bigint,
  last_used_at bigint,
  primary key (user_id, id)
);
create unique index factor_by_credential on factor (user_id, credential_id) where credential_id is not null;

create table recovery_code (
  user_id text collate "C" not null,
  code_hash text collate "C" not null,
  created_at bigint not null,
  used_at bigint,
  primary key (user_id, code_hash)
);

create table challenge (
  user_id text collate "C" not null,
  hash text collate "C" not null,
  purpose text collate "C" not null,
  data text not null,
  expires_at bigint not null,
  primary key (user_id, hash)
);
create index challenge_by_expiry on challenge (expires_at);

create table audit (
  user_id text collate "C" not null,
  id text collate "C" not null,
  at bigint not null,
  event text collate "C" not null,
  actor text not null,
  address text,
  user_agent text,
  request_id text,
  sign_in_id text collate "C",
  name_hash text,
  detail text,
  count bigint not null,
  primary key (user_id, id)
);
create index audit_by_id on audit (id);
create index audit_of_settings on audit (id) where event = 'settings-changed';

-- Which history of changes this database continues (decision 0068): the number of the row without a node is the moment at which it began. The
-- other rows have the numbers of the processes that write. It is not transferred: pg_restore creates the table again, with another object id.
-- SQLite has one process that writes, and keeps its history beside the file.
create table history (
  node text collate "C" primary key,
  number bigint not null,
  raised_at bigint not null
);
insert into history values ('', extract(epoch from clock_timestamp()) * 1000, 0);

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
