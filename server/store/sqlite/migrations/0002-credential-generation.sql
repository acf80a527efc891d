-- Tokens are revoked by a counter, not by a time: a token carries its user's credential generation, and a new password or
-- disabling the user raises it. The row with sign_in_id '' has the first generation that is still valid; its not_before is for
-- tokens without a generation, which were issued before this migration.

alter table user add column credential_generation integer not null default 0;
alter table token_cutoff add column first_generation integer not null default 0;
