package procgroup_test

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/process/procgroup"
	"github.com/cotterpin/cotter/internal/testenv"
)

// starter is set for the process that starts a command and is killed.
const starter = "COTTER_TEST_STARTER"

// TestKilled kills a process that has started a command, and checks that the command ends, although its input stays open.
func TestKilled(t *testing.T) {
	t.Parallel()
	if os.Getenv(starter) != "" {
		startAndHang(t)
	}
	read, write, err := os.Pipe() // the read returns io.EOF when both processes have ended
	testenv.Must(t, err)
	defer read.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), starter+"=1")
	cmd.ExtraFiles = []*os.File{write}
	testenv.Must(t, cmd.Start())
	testenv.Must(t, write.Close())
	if _, err := io.ReadFull(read, make([]byte, 1)); err != nil {
		t.Fatalf("the command has not begun: %v", err)
	}
	testenv.Must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	testenv.Must(t, read.SetReadDeadline(time.Now().Add(time.Minute)))
	if n, err := read.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the command runs on: read %d bytes, %v", n, err)
	}
}

func startAndHang(t *testing.T) {
	cmd := exec.Command("sh", "-c", "echo >&3; exec sleep 600")
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "pipe")}
	procgroup.Detach(cmd)
	_, err := procgroup.Start(cmd)
	testenv.Must(t, err)
	_ = cmd.Wait() // this process is killed first
}

// TestThreadEnds checks that a command runs on when a thread ends that has asked for it.
func TestThreadEnds(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	testenv.Must(t, err)
	out, err := cmd.StdoutPipe()
	testenv.Must(t, err)
	var ended func()
	var failed error
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		runtime.LockOSThread() // its thread ends with this goroutine
		ended, failed = procgroup.Start(cmd)
	}()
	<-asked
	testenv.Must(t, failed)
	for range 100 { // the thread ends in the meantime
		_, err := io.WriteString(in, "x")
		testenv.Must(t, err)
		_, err = io.ReadFull(out, make([]byte, 1))
		testenv.Must(t, err)
	}
	testenv.Must(t, in.Close())
	testenv.Must(t, cmd.Wait())
	ended()
}
