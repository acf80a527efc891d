-- A counter revokes tokens, not a time: a token carries its user's credential generation, and a new password or disabling
-- the user raises the generation. The row with sign_in_id '' has the first generation that is still valid. not_before is for
-- tokens without a generation, issued before this migration. The functions raise the generation, so that nodes of the version
-- before raise it too.

alter table "user" add column credential_generation bigint not null default 0;
alter table token_cutoff add column first_generation bigint not null default 0;
