-- Users of applications: a user may have an external id and needs no username and no password. external_id is unique for each issuer,
-- compared byte by byte; issuer is '' for an id without an issuer.
alter table "user" alter column username drop not null;
alter table "user" alter column password_hash drop not null;
alter table "user" add column external_id text collate "C";
alter table "user" add column issuer text collate "C" not null default '';
alter table "user" add column locale text;
alter table "user" add column email text;
alter table "user" add column issued_generation bigint not null default 0;
create unique index user_by_external_id on "user" (external_id, issuer) where external_id is not null;

-- The sign-in of the tokens that the session's owner got; null until the first one.
alter table session add column sign_in_id text;

-- How often the notification was sent: 1, and 1 more for each replacement that made it newest again. updated_at is the time of the
-- last replacement as ISO 8601 text, null without one.
alter table notification add column count bigint not null default 1;
alter table notification add column updated_at text;
