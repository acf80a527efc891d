-- Tokens are revoked by a counter, not by a time: a token carries its user's credential generation, and a new password or
-- disabling the user raises that. The row with sign_in_id '' names the first generation that is still valid; not_before is
-- for tokens that carry none, issued before this migration.

alter table user add column credential_generation integer not null default 0;
alter table token_cutoff add column first_generation integer not null default 0;
