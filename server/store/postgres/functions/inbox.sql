-- Mark one notification of a user as read, or all of them. Each statement of a PL/pgSQL function sees what was committed
-- before that statement: after the inbox's row is locked, its notifications are read in their current state.

create or replace function mark_read(of_user text, of_id text, moment text) returns text language plpgsql as $$
declare
  box inbox;
  found_one notification;
begin
  select * into box from inbox where user_id = of_user for update;
  select * into found_one from notification where user_id = of_user and id = of_id;
  if found_one.seq is null then return 'absent'; end if;
  if found_one.read_at is not null or found_one.seq <= box.read_through then return 'unchanged'; end if;
  update inbox set version = version + 1, unread = unread - 1 where user_id = of_user;
  update notification set read_at = moment, changed_version = box.version + 1
    where user_id = of_user and seq = found_one.seq;
  if found_one.category is not null then
    update inbox_category set unread = unread - 1 where user_id = of_user and category = found_one.category;
  end if;
  return 'done';
end $$;

-- Through the notification with the id through_id, or else through max_seq, or else all; each may be null.
create or replace function mark_read_through(of_user text, through_id text, max_seq bigint, moment text)
returns text language plpgsql as $$
declare
  box inbox;
  through bigint;
  still_unread bigint;
begin
  select * into box from inbox where user_id = of_user for update;
  if through_id is null then
    if box.user_id is null then return 'unchanged'; end if;
    through := least(box.last_seq, max_seq);
  else
    select seq into through from notification where user_id = of_user and id = through_id;
    if through is null then return 'absent'; end if;
  end if;
  select count(*) into still_unread from notification
    where user_id = of_user and seq > greatest(through, box.read_through) and read_at is null;
  if still_unread is not distinct from box.unread then return 'unchanged'; end if;
  update inbox set version = version + 1, read_through = through, unread = still_unread where user_id = of_user;
  insert into read_mark (user_id, version, through_seq, at) values (of_user, box.version + 1, through, moment);
  update inbox_category set unread = 0 where user_id = of_user and unread > 0;
  if still_unread > 0 then
    update inbox_category set unread = counted.unread
    from (
      select n.category, count(*) as unread from notification n
      where n.user_id = of_user and n.seq > through and n.read_at is null and n.category is not null
      group by n.category
    ) counted
    where user_id = of_user and inbox_category.category = counted.category;
  end if;
  return 'done';
end $$;

-- For nodes of the version before.
create or replace function mark_all_read(of_user text, through_id text, moment text) returns text language plpgsql as $$
begin
  return mark_read_through(of_user, through_id, null, moment);
end $$;
