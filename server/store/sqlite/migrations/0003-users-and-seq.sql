-- Users of applications: a user may have an external id and needs no username and no password. SQLite cannot drop a NOT NULL, so the
-- table is copied. external_id is unique for each issuer, compared byte by byte; issuer is '' for an id without an issuer.
create table new_user (
  id text primary key,
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
  issued_generation integer not null default 0
) without rowid, strict;
insert into new_user (id, username, display_name, password_hash, created_at, disabled_at, credential_generation)
select id, username, display_name, password_hash, created_at, disabled_at, credential_generation from user;
drop table user;
alter table new_user rename to user;
create unique index user_by_external_id on user (external_id, issuer) where external_id is not null;

-- The sign-in of the tokens that the session's owner got; null until the first one.
alter table session add column sign_in_id text;

-- How often the notification was sent: 1, and 1 more for each replacement that made it newest again. updated_at is the time of the
-- last replacement as ISO 8601 text, null without one.
alter table notification add column count integer not null default 1;
alter table notification add column updated_at text;
