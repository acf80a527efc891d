-- Tokens are revoked by a counter, not by a time: a token carries its user's credential generation, and a new password or
-- disabling the user raises that. The row with sign_in_id '' names the first generation that is still valid; not_before is
-- for tokens that carry none, issued before this migration. The functions raise the generation, so that a node of the version
-- before does it too.

alter table "user" add column credential_generation bigint not null default 0;
alter table token_cutoff add column first_generation bigint not null default 0;
