-- The tables of both engines, in the words of SQLite. postgres/schema/dialect.ts says what PostgreSQL has in their place. Lines after
-- `-- sqlite:` or `-- postgres:` are for one engine, up to the other mark or an empty line. Decision 0073 says how a later change is made.
--
-- Times are milliseconds since 1970, except those of notifications and of what marks them as read: ISO 8601 text, sent as it is stored.
--
-- On SQLite `without rowid` stores the rows of a user side by side, and in the tables of inboxes user_id is the 16 bytes of the UUID and not
-- its 36 characters, because it is in each of their indexes (decision 0054).

-- Users. A user of an application may have an external id, and needs no username and no password. external_id is unique for each issuer,
-- compared byte by byte. issuer is '' for an id without one; the user of an application has the application, U+0001 and the issuer (decision 0071).
create table "user" (
  id text primary key,
  username text unique,
  display_name text,
  password_hash text,
  created_at integer not null,
  disabled_at integer,
  -- A token carries the generation of its user. A new password, or disabling the user, raises it (decision 0018).
  credential_generation integer not null default 0,
  external_id text,
  issuer text not null default '',
  locale text,
  email text,
  -- The generation of the tokens that were issued for the user (decision 0018).
  issued_generation integer not null default 0,
  -- Null if the address is not verified.
  email_verified_at integer,
  -- A device token with a lower generation is not valid (decision 0039).
  device_generation integer not null default 0,
  -- The user said that somebody else knows the password; null after a new one.
  password_reported_at integer
) without rowid, strict;
create unique index user_by_external_id on "user" (external_id, issuer) where external_id is not null;
-- Users can share an address. lower() changes ASCII letters only, in the collation "C" of PostgreSQL too.
create index user_by_email on "user" (lower(email)) where email is not null;
-- sqlite:
create index user_by_verified_email on "user" (id) where email_verified_at is not null and instr(issuer, char(1)) = 0;
create index user_of_application on "user" (substr(issuer, 1, instr(issuer, char(1))), id) where instr(issuer, char(1)) > 0;
-- postgres:
create index user_by_verified_email on "user" (id) where email_verified_at is not null and strpos(issuer, chr(1)) = 0;
create index user_of_application on "user" (substr(issuer, 1, strpos(issuer, chr(1))), id) where strpos(issuer, chr(1)) > 0;

-- External ids of users who were erased, as a MAC over application, issuer and id (decision 0071), and its key, sealed (decision 0044).
create table erased_id (
  mac text primary key,
  erased_at integer not null
) without rowid, strict;
create index erased_id_by_time on erased_id (erased_at);
create table erased_key (
  number integer primary key,
  sealed text not null
) without rowid, strict;

-- The account that a user has at a provider (OpenID Connect). It has no column user_id, because it is found without the user.
create table provider_account (
  issuer text not null,
  subject text not null,
  owner_id text not null,
  email text,
  created_at integer not null,
  last_used_at integer not null,
  primary key (issuer, subject)
) without rowid, strict;
create index provider_account_by_owner on provider_account (owner_id);

-- Sessions. secret_hash is the SHA-256 of the whole cookie, and family_hash that of its constant half, by which every older cookie of the sign-in
-- is known, too (decision 0063). A disabled user has no session, so a look-up reads no user.
create table session (
  user_id text not null,
  family_hash text not null,
  secret_hash text not null,
  -- A copy: '' for a user without one.
  username text not null,
  created_at integer not null,
  last_seen_at integer not null,
  -- Names the sign-in in lists, in tokens and in the audit log.
  sign_in_id text not null,
  -- Such as "Firefox on Linux"; null if unknown.
  device text,
  address text,
  -- When the user last proved a password or a factor again; null if never since created_at.
  confirmed_at integer,
  -- 1 if a token of the sign-in was given.
  has_tokens integer not null,
  -- How often the sign-in was rotated: its tokens with a lower number are revoked.
  generation integer not null default 0,
  -- When the present secret took the place of the one before it; null for the first one.
  rotated_at integer,
  -- When the present secret was first used.
  secret_used_at integer,
  primary key (user_id, family_hash)
) without rowid, strict;

-- Revoked tokens: those of one sign-in, with sign_in_id '' those of a user with a generation below first_generation, and with 'issued' the same
-- for the tokens that were issued for the user. With '', except_sign_in_id is the one sign-in that is spared: the caller's. With 'rotated ' before
-- the id of a sign-in, its tokens with a lower generation of the sign-in (decision 0063).
create table token_cutoff (
  user_id text not null,
  sign_in_id text not null,
  expires_at integer not null,
  first_generation integer not null default 0,
  except_sign_in_id text,
  primary key (user_id, sign_in_id)
) without rowid, strict;
create index token_cutoff_by_expiry on token_cutoff (expires_at);

-- The keys that sign tokens. starts_at: nodes sign with the key from this moment. retired_at: the last token of the key has expired.
create table signing_key (
  kid text primary key,
  public_jwk text not null,
  sealed_private_jwk text not null,
  created_at integer not null,
  starts_at integer not null,
  retired_at integer
) without rowid, strict;

-- Inboxes. The version rises with every change. The sequence numbers in use are first_seq to last_seq. A notification is in the list, or away
-- from it: archived or snoozed. total, unread and unseen count what is in the list, archived and snoozed the others.
create table inbox (
  user_id blob primary key,
  version integer not null default 0,
  first_seq integer not null default 1,
  last_seq integer not null default 0,
  total integer not null default 0,
  unread integer not null default 0,
  -- The high-water mark: every notification up to it was read by a read-all, unless it is marked as unread.
  read_through integer not null default 0,
  -- The version of the last read-all.
  read_version integer not null default 0,
  -- How many notifications at or below the high-water mark are unread.
  marked_unread integer not null default 0,
  -- The last read-all or archive-read if it can be undone.
  undo_version integer,
  -- A client that is behind this version loads the list again: that of the last undo or change of the reader's language, of an archive-read before
  -- a read-all, or of the newest removal that is no longer listed.
  reset_version integer not null default 0,
  -- Where the read-all of a category that reached furthest ended.
  category_through integer not null default 0,
  archived integer not null default 0,
  snoozed integer not null default 0,
  -- The high-water mark of the last archive-read, and its version: every notification up to it is archived, unless its kept_version is this one.
  archive_through integer not null default 0,
  archive_version integer not null default 0,
  -- What is in the list and has a higher sequence number is unseen.
  seen_through integer not null default 0,
  -- The version of the last change of it.
  seen_version integer not null default 0,
  unseen integer not null default 0,
  -- 1 if the user has muted something. A delivery reads `preference` only then; deliver-together.sql always does.
  mutes integer not null default 0
) without rowid, strict;

-- made: how many notifications of the category an undo of the last read-all makes unread, or of the last archive-read puts back.
create table inbox_category (
  user_id blob not null,
  category text not null,
  total integer not null,
  unread integer not null,
  made integer not null default 0,
  archived integer not null default 0,
  snoozed integer not null default 0,
  primary key (user_id, category)
) without rowid, strict;

-- Notifications. `version` is the inbox's version when the notification arrived: it rises with seq and never changes. changed_version is that
-- of the last change, and replaced_version that of the last change that replaced the content. title, body, url and data are JSON text, which is
-- sent as it is stored, the title without its quotes; null if the delivery did not give it. So a further member is a column, and no row changes.
create table notification (
  user_id blob not null,
  seq integer not null,
  id text not null,
  version integer not null,
  title text not null,
  body text,
  url text,
  category text,
  data text,
  key text,
  -- To which application the key belongs; '' for none, and without a key.
  application text not null default '',
  created_at text not null,
  -- The time of the last replacement; null without one.
  updated_at text,
  -- How often it was sent: 1, and 1 more for each replacement that made it newest again.
  count integer not null default 1,
  read_at text,
  -- At or below the high-water mark it is unread if this is not below the inbox's read_version: a read-all changes no notification (decision 0030).
  unread_version integer,
  changed_version integer,
  replaced_version integer,
  -- 'archived' or 'snoozed', and since or until when; null in the list (away_at '' if the last change put it back), or if an archive-read covers it.
  away text,
  away_at text,
  -- At or below the high-water mark of archive-reads it is in the list if this is the inbox's archive_version.
  kept_version integer,
  expires_at text,
  -- Members of JSON text without braces: actor, icon, actions, format, expiresAt, and texts (title and body in each language). Null for the defaults.
  look text,
  -- The number of the producer who sent it last; null for the service itself.
  producer integer,
  primary key (user_id, seq)
) without rowid, strict;
create unique index notification_by_key on notification (key, application, user_id) where key is not null;
create index notification_changed on notification (user_id, changed_version) where changed_version is not null;
create index notification_marked_unread on notification (user_id, unread_version, seq) where unread_version is not null;
create index notification_to_wake on notification (away_at, user_id, seq) where away = 'snoozed';
-- The security notices of the service itself (inbox/security-notices.store.ts).
create index notification_of_service on notification (user_id, created_at) where producer is null and category = 'security';
create index notification_by_expiry on notification (expires_at) where expires_at is not null;

-- Ids rise with time, so a new one goes to the end of the index (decision 0055).
create unique index notification_by_id on notification (id, user_id);

-- No index uses a function that SQLite 3.40 lacks, so that the shells of systems can check the file.
-- The indexes of lists (inbox/lists.ts). What an archive-read kept has indexes of its own, so that a list of the one passes over none of the
-- other. SQLite has one index for all states, so that a mark moves an entry a short way. Its last columns are those that the
-- expression and the condition use: without them it would read each row. PostgreSQL would read each row to compare an expression.
-- sqlite:
create index notification_listed on notification
  (user_id, category, coalesce(away, case when read_at is null then 'unread' else 'read' end), seq, read_at, away, kept_version)
  where kept_version is null;
create index notification_kept_unread on notification (user_id, kept_version, seq, read_at) where kept_version is not null and read_at is null;
create index notification_kept_read on notification (user_id, kept_version, seq, read_at) where kept_version is not null and read_at is not null;
-- postgres:
create index notification_away on notification (user_id, away, seq) where away is not null and kept_version is null;
create index notification_away_by_category on notification (user_id, away, category, seq)
  where away is not null and category is not null and kept_version is null;
create index notification_unread on notification (user_id, seq) include (category) where read_at is null and kept_version is null;
create index notification_read on notification (user_id, seq)
  where read_at is not null and away is null and kept_version is null;
create index notification_unread_by_category on notification (user_id, category, seq)
  where read_at is null and kept_version is null;
create index notification_read_by_category on notification (user_id, category, seq)
  where read_at is not null and away is null and category is not null and kept_version is null;
create index notification_kept_unread on notification (user_id, kept_version, seq) where kept_version is not null and read_at is null;
create index notification_kept_read on notification (user_id, kept_version, seq) where kept_version is not null and read_at is not null;

-- One row for each read-all that changed something: every notification up to through_seq was read at that time. What an undo restores:
-- before_through and before_version, what read_version and read_through of the inbox were, and made_read, how many notifications it made read.
create table read_mark (
  user_id blob not null,
  version integer not null,
  through_seq integer not null,
  at text not null,
  before_through integer not null,
  before_version integer not null,
  made_read integer not null,
  -- A JSON array of names; null if the read-all covered everything.
  categories text,
  primary key (user_id, version)
) without rowid, strict;
-- A read-all that changed only notifications marked as unread does not raise the high-water mark, and is no one's first readAt.
create unique index read_mark_by_seq on read_mark (user_id, through_seq, at, before_through) where through_seq > before_through;

-- A read-all of some categories (decision 0030): a row for each, with the sequence number up to which it covers the category.
create table category_read_mark (
  user_id blob not null,
  category text not null,
  through_seq integer not null,
  version integer not null,
  at text not null,
  primary key (user_id, category, through_seq, version)
) without rowid, strict;

-- One row for each archive-read that changed something: what was read and had a sequence number up to through_seq was archived then. For an undo:
-- what archive_through and archive_version of the inbox were before, and made, how many notifications it archived; made_unseen of them were unseen.
create table archive_mark (
  user_id blob not null,
  version integer not null,
  through_seq integer not null,
  at text not null,
  before_through integer not null,
  before_version integer not null,
  made integer not null,
  made_unseen integer not null,
  primary key (user_id, version)
) without rowid, strict;
create index archive_mark_by_seq on archive_mark (user_id, through_seq, version, at);

-- What was removed, for the clients that still show it. reason: 'deleted', 'withdrawn', 'expired' or 'retention'.
create table removal (
  user_id blob not null,
  version integer not null,
  id text not null,
  at text not null,
  reason text not null,
  primary key (user_id, version)
) without rowid, strict;
create index removal_by_time on removal (at);

-- What a user has muted: a category, or with '' everything. muted_until: ISO 8601, or 'forever'.
create table preference (
  user_id blob not null,
  category text not null,
  muted_until text not null,
  primary key (user_id, category)
) without rowid, strict;

-- Categories as the producers of an application declared them; '' is that of the producers of none. label and description are JSON text: a
-- string, or an object with a text for each language. Nobody can mute a mandatory one.
create table category (
  application text not null,
  name text not null,
  label text not null,
  description text,
  mandatory integer not null,
  primary key (application, name)
) without rowid, strict;

-- Changes of all notifications with a key that are not done yet. kind: 'update', 'delete' or 'resolve'. after_user: the last user who is done, or ''.
create table key_change (
  id text primary key,
  application text not null,
  key text not null,
  kind text not null,
  given text,
  producer integer,
  at integer not null,
  after_user text not null
) without rowid, strict;

-- Producers and their keys. number: 1 for the first; notifications have it in place of the id. previous_secret_hash: the secret before a
-- rotation, which is accepted until previous_until. application: '' for a key that belongs to none.
create table producer (
  id text primary key,
  name text not null,
  secret_hash text not null,
  scopes text not null,
  created_at integer not null,
  expires_at integer,
  revoked_at integer,
  last_used_at integer,
  previous_secret_hash text,
  previous_until integer,
  application text not null,
  number integer not null unique,
  -- 0 if deliveries with the key create no user.
  creates_users integer not null default 1
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

-- Devices from which a user has signed in, by label and network (an address, or the /64 of an IPv6 address).
create table known_device (
  user_id text not null,
  label text not null,
  network text not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  primary key (user_id, label, network)
) without rowid, strict;

-- Failed guesses. `key` is a keyed hash of an account, an address, both, or a device. `at`: the last failure, or when a limit by rate is empty again.
create table guess_count (
  key text primary key,
  failures integer not null,
  at integer not null,
  expires_at integer not null
) without rowid, strict;
create index guess_count_by_expiry on guess_count (expires_at);

-- Links to set a password, at most three of a user for one purpose. Only the SHA-256 of the 32 random bytes is stored.
create table one_time_link (
  user_id text not null,
  purpose text not null,
  token_hash text not null,
  -- Later than that of the links before it.
  created_at integer not null,
  expires_at integer not null,
  -- The address that it was sent to, which its use verifies; null if an application or an operator passes it on.
  email text,
  -- Where the browser goes after the use. It is in no URL.
  return_to text,
  primary key (user_id, purpose, token_hash)
) without rowid, strict;
create index one_time_link_by_hash on one_time_link (token_hash);

-- Second factors, from confirmed_at on: kind 'totp' has a sealed secret and the last time step that was used; kind 'passkey' has a credential.
create table factor (
  user_id text not null,
  id text not null,
  kind text not null,
  label text not null,
  sealed_secret text,
  last_step integer,
  credential_id text,
  public_key text,
  sign_count integer,
  transports text,
  created_at integer not null,
  confirmed_at integer,
  last_used_at integer,
  primary key (user_id, id)
) without rowid, strict;
create unique index factor_by_credential on factor (user_id, credential_id) where credential_id is not null;

create table recovery_code (
  user_id text not null,
  code_hash text not null,
  created_at integer not null,
  used_at integer,
  primary key (user_id, code_hash)
) without rowid, strict;

-- A challenge is deleted by its use. Only the hash is stored.
create table challenge (
  user_id text not null,
  hash text not null,
  purpose text not null,
  data text not null,
  expires_at integer not null,
  primary key (user_id, hash)
) without rowid, strict;
create index challenge_by_expiry on challenge (expires_at);

-- The audit log: rows are only added, until they are too old or their user is erased. user_id is '' for no known user. count: refusals together.
create table audit (
  user_id text not null,
  id text not null,
  at integer not null,
  event text not null,
  actor text not null,
  address text,
  user_agent text,
  request_id text,
  sign_in_id text,
  name_hash text,
  detail text,
  count integer not null,
  primary key (user_id, id)
) without rowid, strict;
create index audit_by_id on audit (id);
create index audit_of_settings on audit (id) where event = 'settings-changed';

-- The last time that a process saw, and since when the clock is not believed because it is far ahead of that (audit/time-seen.store.ts).
-- It belongs to one database, as its history does: after a transfer the newest row says the time.
create table time_seen (
  id integer primary key,
  seen_at integer,
  held_since integer
) without rowid, strict;
insert into time_seen values (1, null, null);

-- Which history of changes a PostgreSQL database continues (decision 0068): the number of the row without a node is the moment at which it began,
-- the others are those of the processes that write. pg_restore creates the table with another object id. SQLite keeps its history beside the file.
-- postgres:
create table history (
  node text primary key,
  number integer not null,
  raised_at integer not null
) without rowid, strict;
insert into history values ('', extract(epoch from clock_timestamp()) * 1000, 0);
