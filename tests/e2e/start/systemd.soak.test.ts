// What root does by the documents, under systemd as process 1: the package of Debian is installed, the service is restored from a backup into a
// new folder, and gets a secret from /etc by LoadCredential. Runs on a machine with systemd-nspawn, as root.
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
  /```ini\n(\[Service\]\nLoadCredential=[^`]*)```/.exec(readFileSync('docs/install.md', 'utf8')) ?? []

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
carillon restore /root/carillon-backup.gz --to sqlite:restored/carillon.db
cp -a data/carillon.secret restored/
test "$(stat -c %u . restored restored/carillon.db restored/carillon.secret | sort -u | wc -l)" = 1
test "$(stat -c %u restored)" != 0
export CARILLON_DATABASE_URL=sqlite:restored/carillon.db
mkdir -p /etc/carillon
echo "CARILLON_DATABASE_URL=$CARILLON_DATABASE_URL" > /etc/carillon/carillon.env
systemctl start carillon
ready
carillon key list | grep shop
carillon doctor
systemctl stop carillon

: a secret of root is found
chown root restored/carillon.secret
if carillon doctor > /drill/doctor; then exit 1; fi
grep 'carillon.secret belongs to user 0, and the folder around it to user' /drill/doctor
sed -n 's/^ *-> \\(chown -R .*\\)/\\1/p' /drill/doctor | bash
carillon doctor --json > /drill/doctor || true
if grep 'belongs to user' /drill/doctor; then exit 1; fi

: the secret of the page
rm restored/carillon.secret.* 2> /dev/null || true
mv restored/carillon.secret /etc/carillon/secret
chown root:root /etc/carillon/secret
mkdir -p /etc/systemd/system/carillon.service.d
cat > /etc/systemd/system/carillon.service.d/secret.conf <<'END'
${dropIn}END
systemctl daemon-reload
systemctl start carillon
ready
test ! -e restored/carillon.secret
test "$(systemctl show carillon --property NRestarts --value)" = 0
journalctl --unit carillon --output cat > /drill/journal
if grep '"level":"\\(error\\|fatal\\)"' /drill/journal; then exit 1; fi
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
