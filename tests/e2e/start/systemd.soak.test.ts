// Root does what the documents say, under systemd as process 1: installs the package of Debian,
// restores a backup into a new folder, gives a secret from /etc by LoadCredential, and runs the
// units for examination and backup. Needs systemd-nspawn, and root.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pack } from '../../../tools/pack.ts'
import { buildDeb } from '../../../tools/release/deb.ts'
import { runUnderSystemd, whyNoSystemd } from '../../support/processes/systemd-machine.ts'

/** The lines of the page that give the service a secret from /etc. */
const [, dropIn = ''] =
  /```ini\n(\[Service\]\nLoadCredential=[^`]*)```/.exec(readFileSync('docs/install.md', 'utf8')) ??
  []

function unitOn(page: string): string {
  return /```ini\n(\[[^`]*)```/.exec(readFileSync(page, 'utf8'))?.[1] ?? ''
}

/** `systemctl start` of a service with Type=notify returns when it is ready. */
const drill = `
ready() { systemctl is-active carillon; carillon healthcheck; }
dpkg --install --force-depends /drill/file
systemctl start carillon
ready
cd /var/lib/carillon
stat -c '%U %n' . data data/carillon.db
carillon key add shop
carillon backup /root/carillon-backup.gz
systemctl stop carillon

: the restore drill of docs/operations/backup.md
carillon restore /root/carillon-backup.gz --to sqlite:restored/data/carillon.db
cp -a data/carillon.secret restored/data/
test "$(stat -c %u . restored restored/data restored/data/carillon.db restored/data/carillon.secret | sort -u | wc -l)" = 1
test "$(stat -c %u restored)" != 0
mv data data.before
mv restored/data data
systemctl start carillon
ready
carillon key list | grep shop
carillon doctor
systemctl stop carillon

: a secret of root is found
chown root data/carillon.secret
if carillon doctor > /drill/doctor; then exit 1; fi
grep 'carillon.secret belongs to user 0, and the folder around it to user' /drill/doctor
sed -n 's/^ *-> \\(chown -R .*\\)/\\1/p' /drill/doctor | bash
carillon doctor --json > /drill/doctor || true
if grep 'belongs to user' /drill/doctor; then exit 1; fi

: the secret of the page
rm data/carillon.secret.* 2> /dev/null || true
mkdir -p /etc/carillon
mv data/carillon.secret /etc/carillon/secret
chown root:root /etc/carillon/secret
mkdir -p /etc/systemd/system/carillon.service.d
cat > /etc/systemd/system/carillon.service.d/secret.conf <<'END'
${dropIn}END
systemctl daemon-reload
systemctl start carillon
ready
test ! -e data/carillon.secret
test "$(systemctl show carillon --property NRestarts --value)" = 0

: commands have the settings of the service, docs/operations.md
touch /etc/carillon/carillon.env
set -a; . /etc/carillon/carillon.env; CARILLON_SECRET_FILE=/etc/carillon/secret; set +a
carillon doctor

: the units of docs/operations/backup.md and watch.md
cat > /etc/systemd/system/carillon-backup.service <<'END'
${unitOn('docs/operations/backup.md')}END
cat > /etc/systemd/system/carillon-doctor.service <<'END'
${unitOn('docs/operations/watch.md')}END
systemctl daemon-reload
systemctl start carillon-backup carillon-doctor
test -s /var/backups/carillon-$(date +%F).gz

journalctl --unit carillon --output cat > /drill/journal
if grep '"level":[56]0' /drill/journal; then exit 1; fi
`

test('the service can use what root makes by the documents: the package, a restore, a secret in /etc (R17)', async (t) => {
  assert.match(dropIn, /^\[Service\]\n.*\n.*\n$/)
  const reason = whyNoSystemd()
  if (reason !== undefined) return t.diagnostic(`not run under systemd: ${reason}`)
  const dist = mkdtempSync(join(tmpdir(), 'carillon-dist-'))
  try {
    await pack(dist)
    const { status, output } = await runUnderSystemd(drill, buildDeb(dist, '0.1.0'))
    assert.equal(status, 0, output)
  } finally {
    rmSync(dist, { recursive: true })
  }
})
