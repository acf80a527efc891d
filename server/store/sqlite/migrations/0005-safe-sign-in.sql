-- A sign-in that is fit for the open internet: where users are signed in, limits on guesses, one-time links, second factors, accounts
-- at providers, rotation of keys, and the audit log. Times are milliseconds since 1970.

-- email_verified_at: null if the address is not verified. device_generation: a device token with a lower one is not valid.
-- password_reported_at: the user said that somebody else knows the password; null after a new one.
alter table user add column email_verified_at integer;
alter table user add column device_generation integer not null default 0;
alter table user add column password_reported_at integer;
-- Users can share an address. lower() changes ASCII letters only.
create index user_by_email on user (lower(email)) where email is not null;

-- device: "Firefox on Linux"; null if unknown. confirmed_at: when the user last proved a password or a factor; null means created_at.
alter table session add column device text;
alter table session add column address text;
alter table session add column confirmed_at integer;
-- 1 if a token of the sign-in was given, 0 if not; null, in a session from before: 1 if it has a sign-in.
alter table session add column has_tokens integer;
-- A new session has a sign_in_id; one from before this migration gets it when it is first needed.

-- The one sign-in that a revocation of every sign-in spares: that of the caller.
alter table token_cutoff add column except_sign_in_id text;

-- starts_at: nodes sign with the key from this moment. retired_at: no token is signed with it any more, and those of before have expired.
alter table signing_key add column starts_at integer not null default 0;
alter table signing_key add column retired_at integer;

-- The secret before a rotation, which is accepted until previous_until.
alter table producer add column previous_secret_hash text;
alter table producer add column previous_until integer;

-- Devices from which a user has signed in, by label and network (an address, or the /64 of an IPv6 address).
create table known_device (
  user_id text not null,
  label text not null,
  network text not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  primary key (user_id, label, network)
) without rowid, strict;

-- Failed guesses. `key` is a keyed hash of what is counted: an account, an address, both, or a device. `at` is the last failure, or
-- the moment at which a limit by rate is empty again.
create table guess_count (
  key text primary key,
  failures integer not null,
  at integer not null,
  expires_at integer not null
) without rowid, strict;
create index guess_count_by_expiry on guess_count (expires_at);

-- A link to set a password; a newer one of the same purpose replaces it. Only the SHA-256 of its 32 random bytes is stored.
create table one_time_link (
  user_id text not null,
  purpose text not null,
  token_hash text not null,
  created_at integer not null,
  expires_at integer not null,
  -- The address that it was sent to, which its use verifies; null if an application or an operator passes it on.
  email text,
  primary key (user_id, purpose)
) without rowid, strict;
create index one_time_link_by_hash on one_time_link (token_hash);

-- Second factors: kind 'totp' has a sealed secret and the last time step that was used; kind 'passkey' has a credential. A factor
-- counts from confirmed_at on.
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

-- A challenge is deleted by its use. user_id is '' before it is known who signs in. Only the hash is stored.
create table challenge (
  user_id text not null,
  hash text not null,
  purpose text not null,
  data text not null,
  expires_at integer not null,
  primary key (user_id, hash)
) without rowid, strict;
create index challenge_by_expiry on challenge (expires_at);

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

-- The audit log: rows are only added, until they are too old or their user is erased. user_id is '' if it concerns no known user. `count`
-- is more than 1 for refusals that were counted together.
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
  count integer not null default 1,
  primary key (user_id, id)
) without rowid, strict;
create index audit_by_id on audit (id);
create index audit_of_settings on audit (id) where event = 'settings-changed';
