package journal

import "golang.org/x/sys/unix"

// networkFS returns the name of the network file system that dir is on, or "".
// File systems in user space (FUSE) are not judged: some are local.
func networkFS(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	return networkName(int64(st.Type))
}

// networkName names the magic numbers of statfs(2).
func networkName(magic int64) string {
	switch uint32(magic) {
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "smb"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	case unix.NCP_SUPER_MAGIC:
		return "ncp"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.OCFS2_SUPER_MAGIC:
		return "ocfs2"
	case 0x0bd00bd0:
		return "lustre"
	case 0x47504653:
		return "gpfs"
	}
	return ""
}
