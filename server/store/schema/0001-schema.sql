-- The tables of both engines, in SQLite's words; postgres/schema/dialect.ts translates. Lines after
-- `-- sqlite:` or `-- postgres:` are for one engine, until the other mark or an empty line.
-- Decision 0073 says how to change this. Times are milliseconds since 1970; those of notifications
-- and bulk acts are ISO 8601. On SQLite, `without rowid` stores a user's rows side by side, and the
-- tables of inboxes have user_id as 16 bytes (decision 0054).

-- external_id is unique for each issuer, byte by byte. issuer: '' without one; a user of an
-- application has application, U+0001 and issuer (decision 0071).
create table "user" (
  id text primary key,
  username text unique,
  display_name text,
  password_hash text,
  created_at integer not null,
  disabled_at integer,
  -- Tokens with a lower one are revoked (decision 0018).
  credential_generation integer not null default 0,
  external_id text,
  issuer text not null default '',
  locale text,
  email text,
  -- Issued tokens with a lower one are revoked.
  issued_generation integer not null default 0,
  email_verified_at integer,
  -- Device tokens with a lower one are not valid (decision 0039).
  device_generation integer not null default 0,
  password_reported_at integer,
  -- A generated password stops working then.
  password_ends_at integer,
  -- 'operator' opens /operator.
  role text
) without rowid, strict;
create index user_by_role on "user" (role) where role is not null;
create unique index user_by_external_id on "user" (external_id, issuer) where external_id is not null;
-- Users can share an address.
create index user_by_email on "user" (lower(email)) where email is not null;
create index user_by_display_name on "user" (lower(display_name)) where display_name is not null;
-- sqlite:
create index user_by_verified_email on "user" (id) where email_verified_at is not null and instr(issuer, char(1)) = 0;
create index user_of_application on "user" (substr(issuer, 1, instr(issuer, char(1))), id) where instr(issuer, char(1)) > 0;
-- postgres:
create index user_by_verified_email on "user" (id) where email_verified_at is not null and strpos(issuer, chr(1)) = 0;
create index user_of_application on "user" (substr(issuer, 1, strpos(issuer, chr(1))), id) where strpos(issuer, chr(1)) > 0;

-- The MACs of erased users' external ids, with application and issuer (decision 0071).
create table erased_id (
  mac text primary key,
  erased_at integer not null
) without rowid, strict;
create index erased_id_by_time on erased_id (erased_at);

-- The service makes each key once, and seals it (decision 0044). purpose: 'erased-ids' for these
-- MACs, 'push' for the private JWK of pushes.
create table sealed_key (
  purpose text primary key,
  sealed text not null
) without rowid, strict;

-- An account at a provider (OpenID Connect). It is found without users, so it has no user_id.
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

-- secret_hash: SHA-256 of the cookie. family_hash: of its constant half, which names the sign-in's
-- older cookies (decision 0063).
create table session (
  user_id text not null,
  family_hash text not null,
  secret_hash text not null,
  username text not null,
  created_at integer not null,
  last_seen_at integer not null,
  sign_in_id text not null,
  device text,
  address text,
  -- The user last proved a password or a factor again.
  confirmed_at integer,
  -- 1 if the session gave a token.
  has_tokens integer not null,
  -- Rotations: tokens with a lower number are revoked.
  generation integer not null default 0,
  -- The present secret replaced another one.
  rotated_at integer,
  secret_used_at integer,
  -- 'mfa' for a second factor, 'phr' for a passkey; null for the password alone.
  factor text,
  primary key (user_id, family_hash)
) without rowid, strict;

-- sign_in_id: one sign-in; '' for all of the user below first_generation but except_sign_in_id,
-- 'issued' for issued tokens; 'rotated ' and an id for those before a rotation (decision 0063).
create table revocation (
  user_id text not null,
  sign_in_id text not null,
  expires_at integer not null,
  first_generation integer not null default 0,
  except_sign_in_id text,
  primary key (user_id, sign_in_id)
) without rowid, strict;
create index revocation_by_expiry on revocation (expires_at);

-- Nodes sign from starts_at on. After retired_at no token of it is valid.
create table signing_key (
  kid text primary key,
  public_jwk text not null,
  sealed_private_jwk text not null,
  created_at integer not null,
  starts_at integer not null,
  retired_at integer
) without rowid, strict;

-- Every change raises version. total, unread and unseen count the list.
create table inbox (
  user_id blob primary key,
  version integer not null default 0,
  first_seq integer not null default 1,
  last_seq integer not null default 0,
  total integer not null default 0,
  unread integer not null default 0,
  archived integer not null default 0,
  snoozed integer not null default 0,
  unseen integer not null default 0,
  -- What has a higher sequence number is unseen.
  seen_through integer not null default 0,
  seen_version integer not null default 0,
  -- Negative during the undo, 0 afterwards.
  undo_version integer,
  archive_version integer not null default 0,
  -- A client behind this version loads the list again: the last undo or change of language, an
  -- archive-read before a read-all, or the newest removal or bulk act no longer listed.
  reset_version integer not null default 0,
  -- 1: a delivery reads `preference`; deliver-together.sql always does.
  mutes integer not null default 0,
  -- Bits of what reaches an absent user: 1 a verified address, 2 a push subscription, 4 own rules
  -- in `preference`; only then does a delivery write a reminder. 8: a webhook waits for marks, so
  -- each change writes one.
  reach integer not null default 0,
  -- When the mail server last refused the verified address for good; null after an accepted mail.
  mail_refused_at integer
) without rowid, strict;
create index inbox_by_refusal on inbox (mail_refused_at) where mail_refused_at is not null;

create table inbox_category (
  user_id blob not null,
  category text not null,
  total integer not null,
  unread integer not null,
  archived integer not null default 0,
  snoozed integer not null default 0,
  primary key (user_id, category)
) without rowid, strict;

-- version: the inbox's at arrival. title, body, url and data are JSON text, sent as stored, the
-- title without quotes.
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
  application text not null default '',
  created_at text not null,
  updated_at text,
  -- Counts how often it became the newest.
  count integer not null default 1,
  -- What is archived or snoozed is read. With a generated column, SQLite would read the row at each
  -- index entry (decision 0030).
  read_at text,
  archived_at text,
  snoozed_until text,
  state text not null default 'unread' check (state = case when snoozed_until is not null then 'snoozed'
    when archived_at is not null then 'archived' when read_at is null then 'unread' else 'read' end),
  -- The bulk act that changed it last, negative if an undo leaves it; 0 after a later change.
  bulk_version integer,
  -- The inbox's version at the last change of this, of its content, at its return to the list.
  changed_version integer,
  replaced_version integer,
  unarchived_version integer,
  expires_at text,
  -- Null means 'normal'.
  priority text,
  -- JSON text without braces: actor, icon, actions, format, and texts (title and body by language).
  look text,
  -- Null for the service itself.
  producer integer,
  -- Bits of what was sent since it is unread: 1 a mail, 2 a push, 4 an event of a webhook.
  reached integer not null default 0,
  primary key (user_id, seq)
) without rowid, strict;
-- Ids rise with time, so a new one goes to the index's end (decision 0055).
create unique index notification_by_id on notification (id, user_id);
create unique index notification_by_key on notification (key, application, user_id) where key is not null;
-- Lists are ranges of the next two (inbox/lists.ts). Statistics of `state` may make PostgreSQL pass
-- over most of an inbox.
-- postgres:
alter table notification alter column state set statistics 0;

create index notification_by_state on notification (user_id, state, seq);
create index notification_by_category on notification (user_id, category, state, seq) where category is not null;
create index notification_changed on notification (user_id, changed_version) where changed_version is not null;
create index notification_to_wake on notification (snoozed_until, user_id, seq) where snoozed_until is not null;
create index notification_by_expiry on notification (expires_at) where expires_at is not null;

-- Each step of a bulk act has a row (decision 0030), and changed from_seq to through_seq. act:
-- version of the first step. After the last, nothing of its categories up to goal_seq is unread, or
-- read and in the list, but held security notices.
create table bulk (
  user_id blob not null,
  version integer not null,
  act integer not null,
  kind text not null,
  -- A JSON array; null for all.
  categories text,
  from_seq integer not null,
  through_seq integer not null,
  goal_seq integer not null,
  at text not null,
  primary key (user_id, version)
) without rowid, strict;
create index bulk_by_time on bulk (at);

-- A removed one, which some clients still show. reason: 'deleted', 'withdrawn', 'expired' or
-- 'retention'.
create table removal (
  user_id blob not null,
  version integer not null,
  id text not null,
  at text not null,
  reason text not null,
  -- Webhooks need both of a notification that is gone.
  producer integer,
  category text,
  primary key (user_id, version)
) without rowid, strict;
create index removal_by_time on removal (at);

-- At due_at, server/reach/ looks at what is unread, from from_seq and from_version on.
create table reminder (
  user_id blob not null,
  channel text not null,
  due_at integer not null,
  from_seq integer not null,
  from_version integer not null,
  primary key (user_id, channel)
) without rowid, strict;
create index reminder_by_due on reminder (due_at);

-- One mail or request. channel: 'mail', 'push' or 'webhook'. queue: '' for mails, a push service's
-- host, or a webhook; none waits for another. ids: JSON of notifications, audit entries, or who
-- requested a link, and the body of a webhook's failed event; never a secret. holder: the process
-- that sends it. at: since when it waits. owner_id: '' for no user.
create table outbox (
  id text primary key,
  kind text not null,
  due_at integer not null,
  owner_id text not null,
  channel text not null,
  queue text not null,
  target text not null,
  ids text not null,
  holder integer,
  tries integer not null default 0,
  reason text,
  at integer not null
) without rowid, strict;
create index outbox_by_queue on outbox (channel, queue, due_at);
create index outbox_by_owner on outbox (owner_id, kind);

-- application: '' for producers of none. url: null if the events are read, not sent. events: names
-- with commas. categories: a JSON array; null for all. sealed_previous: the secret before a
-- rotation, which signs too until previous_until.
create table webhook (
  id text primary key,
  application text not null,
  url text,
  events text not null,
  categories text,
  -- What is unread for so many milliseconds is an event; equal for an application's webhooks.
  unread_after integer not null,
  sealed_secret text not null,
  sealed_previous text,
  previous_until integer,
  created_at integer not null,
  last_success_at integer,
  -- The first failure since the last success.
  failing_since integer,
  -- The last twenty, as JSON, newest first.
  attempts text not null default '[]',
  disabled_at integer,
  -- 1 if events waited for too long, which the next response says.
  missed integer not null default 0
) without rowid, strict;

-- Push subscriptions of browsers (RFC 8030). id: the SHA-256 of the endpoint, which browsers can
-- calculate. They end with their sign-in; sign_in_id is 'issued' or 'foreign' for an application's
-- tokens. A click opens url; links are relative to it. They are found without users, so there is no
-- user_id.
create table push_subscription (
  id text primary key,
  owner_id text not null,
  sign_in_id text not null,
  endpoint text not null,
  p256dh text not null,
  auth text not null,
  url text not null,
  -- Such as "Firefox on Linux"; null if unknown.
  device text,
  -- As in session.
  factor text,
  created_at integer not null,
  last_used_at integer not null
) without rowid, strict;
create index push_subscription_by_owner on push_subscription (owner_id, sign_in_id);
create index push_subscription_by_use on push_subscription (last_used_at) where sign_in_id in ('issued', 'foreign');

-- category: '' for everything. muted_until: ISO 8601, or 'forever'. mail: when an unread one causes
-- a mail (inbox/mail-rules.ts). push: 'on' or 'off'. hours: JSON, with '' alone.
create table preference (
  user_id blob not null,
  category text not null,
  muted_until text,
  mail text,
  push text,
  hours text,
  primary key (user_id, category)
) without rowid, strict;

-- application: '' for producers of none. label, description: JSON, a string or a text by language.
-- No user can mute a mandatory one.
create table category (
  application text not null,
  name text not null,
  label text not null,
  description text,
  mandatory integer not null,
  mail text,
  primary key (application, name)
) without rowid, strict;

-- Unfinished changes by key. kind: 'update', 'delete', 'resolve'. after_user: the last finished
-- one.
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

-- Notifications name it by `number`. previous_secret_hash is accepted until previous_until.
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
  creates_users integer not null default 1,
  -- rate_quota requests in rate_seconds. rate_used: those in window rate_window since 1970.
  rate_quota integer,
  rate_seconds integer,
  rate_window integer not null default 0,
  rate_used integer not null default 0
) without rowid, strict;

create table delivery (
  producer_id text not null,
  idempotency_key text not null,
  body_hash text not null,
  answer text not null,
  at integer not null,
  primary key (producer_id, idempotency_key)
) without rowid, strict;
create index delivery_by_time on delivery (at);

-- network: an address, or the /64 of IPv6.
create table known_device (
  user_id text not null,
  label text not null,
  network text not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  primary key (user_id, label, network)
) without rowid, strict;

-- key: keyed hash of an account, address, both, or a device. at: the last failure, or when a rate
-- is empty again.
create table guess_count (
  key text primary key,
  failures integer not null,
  at integer not null,
  expires_at integer not null
) without rowid, strict;
create index guess_count_by_expiry on guess_count (expires_at);

-- A user has at most three for one purpose. token_hash: the SHA-256 of 32 random bytes.
create table one_time_link (
  user_id text not null,
  purpose text not null,
  token_hash text not null,
  created_at integer not null,
  expires_at integer not null,
  -- Using the link verifies this address; null if the service does not send the link.
  email text,
  -- No URL has it.
  return_to text,
  primary key (user_id, purpose, token_hash)
) without rowid, strict;
create index one_time_link_by_hash on one_time_link (token_hash);

-- 'totp' has sealed_secret and last_step, 'passkey' a credential.
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

-- Its use deletes it.
create table challenge (
  user_id text not null,
  hash text not null,
  purpose text not null,
  data text not null,
  expires_at integer not null,
  primary key (user_id, hash)
) without rowid, strict;
create index challenge_by_expiry on challenge (expires_at);

-- Rows are only added, until they are too old or their user is erased. count: of equal refusals.
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
create index audit_of_tidying on audit (id) where event = 'tidying-failed';
create index audit_of_mails on audit (id) where event = 'mails-refused';

-- When each rule of CARILLON_SECOND_FACTOR first held; a row stays if the rule is turned off.
create table factor_rule (
  rule text primary key,
  started_at integer not null
) without rowid, strict;

-- The last time that a process saw. held_since: the clock is far ahead (audit/time-seen.store.ts).
create table time_seen (
  id integer primary key,
  seen_at integer,
  held_since integer
) without rowid, strict;
insert into time_seen values (1, null, null);

-- due_at: a node claims it (backups/backups.store.ts). A transfer leaves these rows behind.
create table scheduled_backup (
  due_at integer primary key,
  node text not null,
  path text not null,
  started_at integer not null,
  renewed_at integer not null,
  ended_at integer,
  bytes integer,
  failure text
) without rowid, strict;

-- What happened on all nodes (metrics/hourly.ts). hour: hours since 1970. max: a gauge's largest
-- value.
create table hourly (
  hour integer not null,
  name text not null,
  count integer not null,
  max integer not null,
  primary key (hour, name)
) without rowid, strict;

-- The running processes (metrics/nodes.ts). A transfer leaves these rows behind.
create table node (
  id text primary key,
  name text not null,
  seen_at integer not null,
  facts text not null
) without rowid, strict;

-- The row without a node has the moment at which the history began, others the numbers of writing
-- processes (decision 0068). pg_restore changes the object id. SQLite's history is beside the file.
-- postgres:
create table history (
  node text primary key,
  number integer not null,
  raised_at integer not null
) without rowid, strict;
insert into history values ('', extract(epoch from clock_timestamp()) * 1000, 0);
